"""`goclaw up` as people run it: start, answer, stop, and refuse in plain words."""

import os
import signal
import socket
import sqlite3
import time
from contextlib import suppress

import pytest

from tests.goclaw_site.running import Up, free_port, until

pytestmark = pytest.mark.slow


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


@pytest.fixture
def start(state):
    """Starts servers, and leaves none behind."""
    started: list[Up] = []

    def begin(port: int | None = None, **env: str) -> Up:
        started.append(Up(state, port or free_port(), **env))
        return started[-1]

    yield begin
    for server in started:
        server.clear()


def test_starts_answers_and_stops_cleanly(start, state):
    begin = time.monotonic()
    server = start()
    assert until(server.answers)
    assert time.monotonic() - begin < 10, "five seconds on an idle machine"
    assert until(lambda: server.get("/readyz")[0] == 200), server.get("/readyz")
    assert len(server.family()) >= 4

    code, out, err = server.stop(signal.SIGINT)
    assert code == 0, err
    assert f"GoClaw Memory is ready: http://localhost:{server.port}/" in out
    assert out.count("An administrator has been made") == 1
    assert "Traceback" not in err
    assert server.family() == []
    assert (state / "gc_state.sqlite").exists()


def test_password_is_printed_on_the_first_start_only(start):
    first = start(GOCLAW_ADMIN_PASSWORD="correct horse")
    assert until(first.answers)
    out = first.stop()[1]
    assert "from GOCLAW_ADMIN_PASSWORD" in out
    assert "correct horse" not in out
    second = start()
    assert until(second.answers)
    assert "administrator" not in second.stop()[1]


def test_killed_parent_leaves_no_process_behind(start):
    server = start()
    assert until(server.answers)
    server.process.kill()
    assert until(lambda: server.family() == [], 15), server.family()


def test_dead_children_are_started_again(start):
    server = start()
    assert until(server.answers)
    before = set(server.family()) - {server.process.pid}
    for pid in before:
        with suppress(ProcessLookupError):  # a parent that was killed first may take it along
            os.kill(pid, signal.SIGKILL)
    assert until(lambda: not before & set(server.family()))
    assert until(server.answers)
    assert until(lambda: len(server.family()) >= len(before))
    code, _, err = server.stop()
    assert code == 0
    assert "web-1 ended" in err
    assert "worker ended" in err
    assert server.family() == []


def test_killed_idle_worker_does_not_stop_the_queue(start):
    """An idle worker holds the lock of the queue it waits on."""
    server = start()
    assert until(server.answers)
    assert until(lambda: server.get("/readyz")[0] == 200)
    before = set(server.family())
    leaf = min(server.leaves() - {server.web()})
    os.kill(leaf, signal.SIGKILL)
    assert until(lambda: len(before & set(server.family())) == 2), "all but parent and web are new"
    assert until(lambda: len(server.family()) == len(before))
    assert "worker ended" in server.stop()[2]


def test_several_web_processes_share_the_port(start):
    server = start(GOCLAW_SERVER__WEB_PROCESSES="3")
    assert until(server.answers)
    assert all(server.answers() for _ in range(30))
    assert server.stop()[0] == 0


def test_port_in_use_is_said_before_any_work(start, state):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, out, err = start(port).ended()
    assert code == 1
    assert err.strip().count("\n") == 0
    assert f"port {port}" in err
    assert "--port" in err
    assert out == ""
    assert not (state / "gc_state.sqlite").exists()


def test_second_up_on_the_same_folder_is_refused(start, state):
    first = start()
    assert until(first.answers)
    code, _, err = start().ended()
    assert code == 1
    assert f"already runs on {state} (process {first.process.pid})" in err
    assert first.answers()


def test_database_of_a_newer_version_is_refused(start, state):
    state.mkdir()
    with sqlite3.connect(state / "gc_state.sqlite") as database:
        database.execute(
            "CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app, name, applied datetime)"
        )
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) "
            "VALUES ('memory', '9999_from_the_future', '2026-01-01 00:00:00')"
        )
    database.close()
    code, _, err = start().ended()
    assert code == 1
    assert "newer version (memory.9999_from_the_future" in err
    assert "Traceback" not in err


def test_file_that_is_no_database_is_refused(start, state):
    state.mkdir()
    (state / "gc_state.sqlite").write_bytes(b"no database at all\n" * 100)
    code, _, err = start().ended()
    assert code == 1
    assert str(state / "gc_state.sqlite") in err
    assert "Traceback" not in err


def test_misspelt_configuration_is_one_plain_line(start, state):
    state.mkdir()
    (state / "config.yaml").write_text("sevrer:\n  port: 1\n")
    code, _, err = start().ended()
    assert code == 1
    assert err.startswith("goclaw: ")
    assert err.strip().endswith("unknown key sevrer; did you mean server.port?") or "sevrer" in err
    assert "Traceback" not in err
