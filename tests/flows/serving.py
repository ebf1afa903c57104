"""A whole server in processes of its own, and clients that hold a connection to it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.goclaw_site.running import MANAGE, Up, _parent, free_port

#: Far beyond what any machine needs.
PATIENCE = 240.0


def eventually(holds: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Poll until `holds` gives something true, and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.1)
    raise AssertionError(f"it never came: {what}")


class Server(Up):
    """`goclaw up` with the bundled model; its words go to files, so that no pipe fills up."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.state = folder / "state"
        self.port = free_port()
        self.log = folder / "log.txt"
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GOCLAW_")}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(MANAGE), "up", "--port", str(self.port)],
                env={**clean, "GOCLAW_STATE_DIR": str(self.state), **env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def wait(self) -> None:
        """Until web server and worker are there."""
        eventually(self._ready, "a server that is ready")

    def _ready(self) -> bool:
        assert self.process.poll() is None, self.said()
        return self.get("/readyz")[0] == 200

    def worker(self) -> int:
        """The child that has children of its own: the queue's cluster."""
        family = self.family()
        children = [pid for pid in family if _parent(pid) == self.process.pid]
        parents = {_parent(pid) for pid in family}
        return next(pid for pid in children if pid in parents)

    def stopped(self) -> int:
        """Stop it politely and return the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


class Client:
    """One kept-alive connection with a key."""

    def __init__(self, port: int, key: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.key = key

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        raw = None if body is None else json.dumps(body).encode()
        self.connection.request(method, path, raw, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    def write(self, content: str, scope: str = "agent_notes") -> tuple[int, Any]:
        return self.send("POST", "/api/memory/", {"content": content, "scope": scope})

    def wrote(self, content: str) -> str:
        status, body = self.write(content)
        assert status == 201, (status, body)
        return str(body["id"])

    def found(self, query: str, **fields: Any) -> list[str]:
        status, body = self.send("POST", "/api/memory/search/", {"query": query, **fields})
        assert status == 200, (status, body)
        return [hit["id"] for hit in body["results"]]

    def state_of(self, memory_id: str) -> str:
        status, body = self.send("GET", f"/api/memory/{memory_id}/")
        assert status == 200, (status, body)
        return str(body["index_state"])

    def pending(self) -> int:
        return int(self.send("GET", "/api/memory/stats/")[1]["pending"])
