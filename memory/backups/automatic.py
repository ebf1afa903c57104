"""A copy of the database before something that cannot be undone."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection

from goclaw_site.config import state_dir
from goclaw_site.errors import Unavailable

FOLDER = "backups"


def back_up() -> Path | None:
    """Copy the SQLite database to `<state dir>/backups/gc_state_<timestamp>.sqlite`.

    The copy is of one moment, whoever writes meanwhile. None on other database systems, whose own
    tools do this. Raises Unavailable where the copy cannot be written; nothing is left of it then.
    """
    if connection.vendor != "sqlite":
        return None
    target = _target()
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        _copy(Path(connection.settings_dict["NAME"]), target)
    except (OSError, sqlite3.Error) as error:
        target.unlink(missing_ok=True)
        raise Unavailable(f"The backup {target} could not be made: {error}.") from None
    return target


def _target() -> Path:
    """Two in one second do not meet: microseconds are part of the name."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S_%fZ")
    folder = state_dir() / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"gc_state_{stamp}.sqlite"


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as held, closing(sqlite3.connect(target)) as copy:
        held.backup(copy)
        # A copy that needs no second file beside it.
        copy.execute("PRAGMA journal_mode=DELETE")
