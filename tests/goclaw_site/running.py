"""A real `goclaw up` in a process of its own."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


class Up:
    """Starts at once; its processes are found by the state directory in their environment."""

    def __init__(self, state: Path, port: int, **env: str) -> None:
        self.state = state
        self.port = port
        self.process = subprocess.Popen(
            [sys.executable, str(MANAGE), "up", "--port", str(port)],
            env={
                **os.environ,
                "GOCLAW_STATE_DIR": str(state),
                "GOCLAW_MEMORY__SEARCH__PROVIDER": "none",
                **env,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def answers(self) -> bool:
        return self.get("/healthz") == (200, "ok")

    def family(self) -> list[int]:
        """Every living process of this server."""
        mark = f"GOCLAW_STATE_DIR={self.state}\0".encode()
        return [pid for pid in _pids() if mark in _environment(pid)]

    def web(self) -> int:
        """The web server is the first child."""
        return min(pid for pid in self.family() if _parent(pid) == self.process.pid)

    def leaves(self) -> set[int]:
        """Processes without children: those that do the work."""
        family = set(self.family())
        return family - {_parent(pid) for pid in family}

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=25)
        return self.process.returncode, out, err

    def clear(self) -> None:
        for pid in self.family():
            os.kill(pid, signal.SIGKILL)
        self.process.wait(5)


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _parent(pid: int) -> int:
    try:
        # The name in brackets may hold spaces; the parent is the second field after it.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes() + b"\0"
    except OSError:
        return b""
