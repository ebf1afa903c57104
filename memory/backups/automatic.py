"""A copy of the database before something that cannot be undone."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection

from goclaw_site.config import get_config, state_dir
from goclaw_site.errors import Unavailable
from memory.backups import databases

FOLDER = "backups"
_ENDS = (".sqlite", ".dump")


def back_up() -> Path | None:
    """Copy the database to `<state dir>/backups/gc_state_<timestamp>.sqlite`, or `.dump`.

    The copy is of one moment, whoever writes meanwhile. None on other database systems than these
    two, whose own tools do this. Raises Unavailable where the copy cannot be written; nothing is
    left of it then.
    The oldest beyond `backup.keep_automatic` go once the new one is whole.
    """
    copy = _COPIES.get(connection.vendor)
    if copy is None:
        return None
    target = _target()
    try:
        target = copy(target)
    except (OSError, sqlite3.Error) as error:
        target.unlink(missing_ok=True)
        raise Unavailable(f"The backup {target} could not be made: {error}.") from None
    _forget_oldest(target)
    return target


def found() -> list[Path]:
    """Return them all, newest first."""
    folder = state_dir() / FOLDER
    copies = [path for end in _ENDS for path in folder.glob(f"gc_state_*{end}")]
    return sorted(copies, reverse=True)


def _copy_file(target: Path) -> Path:
    databases.copy(Path(connection.settings_dict["NAME"]), target)
    return target


def _dump_rows(target: Path) -> Path:
    # Late: the modules of backups need no Django, this one does.
    from memory.backups import dumps

    dumped = target.with_suffix(".dump")
    dumps.dump(dumped)
    return dumped


_COPIES = {"sqlite": _copy_file, "postgresql": _dump_rows}


def _forget_oldest(newest: Path) -> None:
    """Their names are in the order of time; a clock that went back never costs the newest."""
    kept = get_config().backup.keep_automatic
    others = [path for path in found() if path != newest]
    for path in others[kept - 1 :]:
        path.unlink(missing_ok=True)


def _target() -> Path:
    """Two in one second do not meet: microseconds are part of the name."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S_%fZ")
    folder = state_dir() / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"gc_state_{stamp}.sqlite"
