"""Rows that a restore has laid into the state directory: the next start loads them."""

from __future__ import annotations

from pathlib import Path

from django.db import connection

from goclaw_site.config import state_dir
from goclaw_site.errors import ConfigError, GoclawError
from memory.backups.automatic import FOLDER, back_up
from memory.backups.contents import DUMP


def load() -> Path | None:
    """Load them once, after a copy of what is there; return that copy.

    Raises ConfigError: the rows that were there stay then, and those that wait too.
    """
    file = state_dir() / DUMP
    if not file.exists() or connection.vendor != "postgresql":
        return None
    # Late: it starts PostgreSQL's own programs.
    from memory.backups import dumps

    try:
        before = back_up() if connection.introspection.table_names() else None
        dumps.load(file)
    except GoclawError as error:
        raise ConfigError(
            f"The restored rows in {file} could not be loaded: {error.message} Nothing was "
            "changed. Put right what it says, or move the file away to start without them."
        ) from None
    file.rename(state_dir() / FOLDER / f"loaded-{file.stat().st_mtime_ns}.dump")
    return before
