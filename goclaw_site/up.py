"""What `goclaw up` does: prepare everything, then run the processes until told to stop."""

import fcntl
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from goclaw_site import databases, embeddedpostgres, firststart
from goclaw_site.config import Config, get_config, state_dir
from goclaw_site.errors import ConfigError
from goclaw_site.processes import run_web, run_worker
from goclaw_site.supervisor import Child, Supervisor

_BACKLOG = 512


def serve(host: str | None = None, port: int | None = None) -> None:
    """Blocks; raises ConfigError before any work where the start cannot succeed."""
    config = get_config()
    address = (host or config.server.host, config.server.port if port is None else port)
    database = embeddedpostgres.taken() if embeddedpostgres.chosen(config) else nullcontext()
    with (
        _only_one(state_dir() / "run" / "up.lock") as lock,
        _listening(*address) as listener,
        database as server,
    ):
        firststart.prepare()
        databases.close()
        supervisor = Supervisor(
            [*_database(server), *_children(config, listener, lock)],
            ready=lambda: firststart.answers(*listener.getsockname()[:2]),
            announce=lambda: _say(_welcome(*listener.getsockname()[:2])),
        )
        supervisor.run()
    _say("Stopped.")


def _database(pid: int | None) -> list[Child]:
    """The embedded server runs already; it is watched, and ends after all that need it."""
    return [Child("postgres", embeddedpostgres.run, pid, last=True)] if pid else []


def _children(config: Config, listener: socket.socket, lock: int) -> list[Child]:
    def web() -> None:
        os.close(lock)
        run_web(listener)

    def worker() -> None:
        os.close(lock)
        listener.close()
        run_worker()

    count = config.server.web_processes
    return [*(Child(f"web-{number + 1}", web) for number in range(count)), Child("worker", worker)]


@contextmanager
def _only_one(path: Path) -> Iterator[int]:
    """Yields the locked file; the lock goes with the process, however it ends."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(handle, 20).decode(errors="replace").strip() or "unknown"
        os.close(handle)
        raise ConfigError(
            f"The server already runs on {state_dir()} (process {holder}). Stop it first, or "
            "set GOCLAW_STATE_DIR to another folder."
        ) from None
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigError(_cannot_listen(host, port, error)) from None
    with listener:
        yield listener


def _cannot_listen(host: str, port: int, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"Cannot listen on {host} port {port}: {reason}. Stop the program that uses it, or "
        "choose another one with --port or server.port."
    )


def _welcome(host: str, port: int) -> str:
    public = get_config().server.public_url
    shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host  # noqa: S104
    return f"GoClaw Memory is ready: {public or f'http://{shown}:{port}/'}  (Ctrl-C stops it)"


def _say(text: str) -> None:
    print(text, flush=True, file=sys.stdout)
