"""Two web processes, a worker and four clients on one SQLite file: nothing fails, nothing is lost.

`FLOW_SECONDS` sets how long the clients work.
"""

import os
import random
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.commands.running import outside
from tests.flows.serving import PATIENCE, Client, Server, eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SECONDS = float(os.environ.get("FLOW_SECONDS", "8"))
CLIENTS = 4
WORDS = ("gateway", "backup", "invoice", "harbour", "violin", "garden", "engine", "letter")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    started = Server(tmp_path_factory.mktemp("live"), GOCLAW_SERVER__WEB_PROCESSES="2")
    try:
        started.wait()
        yield started
    finally:
        started.clear()


@pytest.fixture(scope="module")
def key(server):
    made = outside(server.state, "keys", "create", "--user", "admin", "--json")
    assert made.status == 0, made.err
    return made.json["key"]


@pytest.fixture
def client(server, key):
    return Client(server.port, key)


@dataclass
class Diary:
    """What one client did: ids by the word that only their record has, times in milliseconds."""

    written: dict[str, str] = field(default_factory=dict)
    writes: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def work(client: Client, name: str, until: float, diary: Diary) -> None:
    """Write a record, find it at once, ask for something else; note every failure."""
    dice = random.Random(name)
    number = 0
    while time.monotonic() < until:
        number += 1
        word = f"{name}n{number}q"
        content = f"The {dice.choice(WORDS)} of {word} is beside the {dice.choice(WORDS)}."
        try:
            begin = time.monotonic()
            status, body = client.write(content)
            written = time.monotonic()
            hits = client.found(word)
            found = time.monotonic()
            client.found(dice.choice(WORDS), max_results=20)
        except Exception as error:
            # Whatever it was: the test shows it, and the client goes on with a new connection.
            diary.errors.append(repr(error))
            client.connection.close()
            continue
        if status != 201:
            diary.errors.append(f"{status} {body}")
            continue
        diary.written[word] = body["id"]
        diary.writes.append((written - begin) * 1000)
        diary.searches.append((found - written) * 1000)
        if body["id"] not in hits:
            diary.errors.append(f"{word} was not found at once")


def test_clients_write_and_find_without_an_error(server, key):
    until = time.monotonic() + SECONDS
    diaries = [Diary() for _ in range(CLIENTS)]
    threads = [
        threading.Thread(target=work, args=(Client(server.port, key), f"c{n}", until, diary))
        for n, diary in enumerate(diaries)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS + PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    written = {word: pk for diary in diaries for word, pk in diary.written.items()}
    print(*report(diaries), sep="\n")
    assert [error for diary in diaries for error in diary.errors] == []
    assert len(written) >= CLIENTS
    everything_is_there(Client(server.port, key), written)
    begin = time.monotonic()
    asker = Client(server.port, key)
    eventually(lambda: asker.pending() == 0, "an index without pending records", 600)
    print(f"indexed {time.monotonic() - begin:.1f} s after the last write")
    everything_is_there(Client(server.port, key), written)


def everything_is_there(client: Client, written: dict[str, str]) -> None:
    """Every record can be read, and is found by the word that it alone has."""
    for word, memory_id in written.items():
        status, body = client.send("GET", f"/api/memory/{memory_id}/")
        assert (status, word in body["content"]) == (200, True)
        assert memory_id in client.found(word), word


def report(diaries: list[Diary]) -> Iterator[str]:
    """The figures for people: pytest -rP shows them."""
    for name in ("writes", "searches"):
        times = sorted(ms for diary in diaries for ms in getattr(diary, name))
        if times:
            late = times[int(len(times) * 0.99)]
            each = f"p50 {statistics.median(times):.0f} ms, p99 {late:.0f} ms"
            yield f"{len(times)} {name}, {len(times) / SECONDS:.1f} a second, {each}"


def test_found_by_keyword_at_once_and_by_meaning_after_its_job(client):
    memory_id = client.wrote("Unser Hund schläft jede Nacht auf dem Sofa im Wohnzimmer.")
    assert memory_id in client.found("Wohnzimmer")
    eventually(lambda: client.state_of(memory_id) == "indexed", "the vectors")
    status, body = client.send(
        "POST", "/api/memory/search/", {"query": "Where does the dog sleep?", "max_results": 20}
    )
    assert (status, body["mode"]) == (200, "hybrid")
    hit = next(hit for hit in body["results"] if hit["id"] == memory_id)
    assert hit["explain"]["matched_terms"] == 0
    assert hit["explain"]["similarity"] is not None


def test_killed_worker_is_healed(server, client):
    before = server.worker()
    os.kill(before, 9)
    memory_id = client.wrote("Written while nobody works.")
    assert memory_id in client.found("nobody works")
    eventually(lambda: client.state_of(memory_id) == "indexed", "a new worker's work")
    assert server.worker() != before


def test_command_and_api_agree_while_the_server_runs(server, client, key):
    memory_id = client.wrote("The lighthouse keeper collects stamps.")
    eventually(lambda: client.state_of(memory_id) == "indexed", "the vectors")
    printed = outside(
        server.state,
        *("memory", "search", "who collects stamps", "--json", "--key", key),
        GOCLAW_MEMORY__SEARCH__PROVIDER="local",
    ).json
    # The server has closed the connection that stood idle for so long.
    asker = Client(server.port, key)
    _, answered = asker.send("POST", "/api/memory/search/", {"query": "who collects stamps"})
    for body in (printed, answered):
        body.pop("took_ms")
        for hit in body["results"]:
            hit.pop("explain")
    assert printed == answered
    assert printed["mode"] == "hybrid"


def test_stops_cleanly_and_leaves_nobody(server):
    """Stands last: it ends the server of this module."""
    assert server.stopped() == 0, server.said()
    assert server.family() == []
    assert "Stopped." in server.said()
    assert "Traceback" not in server.said()
    assert "locked" not in server.said()
    checked = outside(
        server.state, "memory", "check", "--json", GOCLAW_MEMORY__SEARCH__PROVIDER="local"
    )
    assert checked.json == {"ok": True, "findings": []}
