"""SQLite files: copied while they are in use, examined, and asked for their migrations."""

from __future__ import annotations

import os
import pkgutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path

from goclaw_site.errors import InvalidInput

#: Seconds that another process may hold the file.
_PATIENCE = 30.0
_PAGES = 4096
OURS = ("memory", "wiki", "agents")

Watch = Callable[[int, int], None]


def copy(source: Path, target: Path, watch: Watch | None = None) -> None:
    """Copy what the database is at this moment, whoever writes meanwhile. The target is new.

    The source is read inside one transaction: without it, each foreign write would start the copy
    anew. `watch` gets the bytes done and all of them, and may raise to stop.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(_connected(source)) as held, closing(sqlite3.connect(target)) as made:
        held.execute("BEGIN")
        held.execute("SELECT count(*) FROM sqlite_master").fetchone()
        size = int(held.execute("PRAGMA page_size").fetchone()[0])

        def told(_: int, left: int, pages: int) -> None:
            if watch is not None:
                watch((pages - left) * size, pages * size)

        held.backup(made, pages=_PAGES, progress=told, sleep=0)
        # A copy that needs no second file beside it.
        made.execute("PRAGMA journal_mode=DELETE")
    flush(target)


def problem(file: Path) -> str:
    """What SQLite finds wrong with a file that nobody uses; empty where nothing is."""
    address = f"{file.absolute().as_uri()}?immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as held:
            found = held.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else str(found)


def migrations(file: Path) -> dict[str, list[str]]:
    """The migrations of ours that the database has had, by app."""
    address = f"{file.absolute().as_uri()}?immutable=1"
    rows = "SELECT app, name FROM django_migrations ORDER BY app, name"
    found: dict[str, list[str]] = {}
    try:
        with closing(sqlite3.connect(address, uri=True)) as held:
            for app, name in held.execute(rows):
                if app in OURS:
                    found.setdefault(app, []).append(name)
    except sqlite3.Error:
        raise InvalidInput(f"{file} is no database of this server.") from None
    return found


def unknown_migrations(had: dict[str, list[str]]) -> list[str]:
    """Those that this version does not have: the database is newer."""
    return sorted(
        f"{app}.{name}" for app, names in had.items() for name in set(names) - _on_disk(app)
    )


def let_go(file: Path) -> bool:
    """Fold the log into the file; False where another process has the database open."""
    try:
        with closing(sqlite3.connect(file, timeout=2.0)) as held:
            mode = held.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        return "locked" not in str(error)
    except sqlite3.DatabaseError:
        # It is damaged: there is no log to fold, and nobody can use it.
        return True
    return bool(mode == "delete")


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _connected(source: Path) -> sqlite3.Connection:
    if not source.is_file():
        raise sqlite3.OperationalError(f"there is no database {source}")
    return sqlite3.connect(source, timeout=_PATIENCE, isolation_level=None)


def _on_disk(app: str) -> set[str]:
    try:
        package = import_module(f"{app}.migrations")
    except ModuleNotFoundError:
        return set()
    return {module.name for module in pkgutil.iter_modules(package.__path__)}
