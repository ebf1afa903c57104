"""A server of its own on real sockets: `python -m tests.agents.served STATE PORT`."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.goclaw_site.running import free_port, until

ROOT = Path(__file__).resolve().parents[2]
#: Of `walker`, who signs in.
PASSWORD = "a-password-for-tests"


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: Any

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """Where it is, and the keys of the people that it knows."""

    state: Path
    port: int
    pid: int
    keys: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    def environment(self, who: str) -> dict[str, str]:
        return environment(self.state) | {"GOCLAW_API_KEY": self.keys[who]}

    def send(
        self, method: str, path: str, body: Any = None, who: str = "", **headers: str
    ) -> Reply:
        """`body` is sent as JSON, bytes as they are."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        fields = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if who:
            fields["Authorization"] = f"Bearer {self.keys[who]}"
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        asked = Request(self.url + path, raw, fields | given, method=method)
        try:
            with urlopen(asked, timeout=60) as answer:
                return Reply(answer.status, answer.read(), answer.headers)
        except HTTPError as error:
            with error:
                return Reply(error.code, error.read(), error.headers)


def environment(state: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GOCLAW_")}
    return clean | {
        "GOCLAW_STATE_DIR": str(state),
        "GOCLAW_MEMORY__SEARCH__PROVIDER": "none",
        "GOCLAW_LOG__LEVEL": "WARNING",
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def serving(state: Path):
    """Serve until the block ends."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.agents.served", str(port)],
        env=environment(state),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        keys = json.loads(process.stdout.readline())
        served = Served(state, port, process.pid, keys)
        assert until(lambda: _answers(served), 30)
        yield served
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def _answers(served: Served) -> bool:
    try:
        return served.send("GET", "/healthz").status == 200
    except OSError:
        return False


def _people() -> dict[str, str]:
    from django.contrib.auth.models import User

    from agents import keys

    people = {name: User.objects.create(username=name) for name in ("ann", "bob")}
    people["root"] = User.objects.create(username="root", is_superuser=True)
    User.objects.create_user("walker", password=PASSWORD)
    made = {name: keys.create(person).text for name, person in people.items()}
    made["reader"] = keys.create(people["ann"], read_only=True).text
    made["gateway"] = keys.create(None, gateway=True).text
    gone = keys.create(people["ann"])
    keys.revoke(gone.key.prefix)
    return made | {"revoked": gone.text}


def _main(port: int) -> None:
    from goclaw_site.cli import use_settings

    use_settings()
    import django

    django.setup()
    import uvicorn
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0, interactive=False)
    made = _people()
    connections.close_all()
    print(json.dumps(made), flush=True)
    uvicorn.run(
        "goclaw_site.asgi:application",
        port=port,
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
    )


if __name__ == "__main__":
    _main(int(sys.argv[1]))
