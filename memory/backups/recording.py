"""Backups that the installation remembers: the last one, whether it was good, and the trail."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from goclaw_site.config import state_dir
from goclaw_site.errors import GoclawError
from memory import audit
from memory.access import Principal
from memory.backups.contents import layout
from memory.backups.making import Making, Watch, Wish
from memory.backups.manifest import Manifest
from memory.models import EngineState

LAST, LAST_GOOD = "backup_last", "backup_last_good"


def wish(target: Path, *, secrets: bool, made_by: str = "command") -> Wish:
    """What to copy of this installation."""
    is_file = connection.vendor == "sqlite"
    database = Path(connection.settings_dict["NAME"]) if is_file else None
    held = replace(layout(state_dir()), database=database)
    return Wish(target, held, connection.vendor, secrets, made_by)


def back_up_to(
    principal: Principal, target: Path, *, secrets: bool, watch: Watch = lambda done, total: None
) -> Manifest:
    """Make a backup at once, and record how it went. Raise InvalidInput, Unavailable."""
    began = time.monotonic()
    try:
        made = Making(wish(target, secrets=secrets), watch).work(float("inf"))
        assert made is not None
    except GoclawError as error:
        record_failure(target, error.message)
        audit.record(principal, "db.backup", "backup", outcome=audit.FAILED, secrets=secrets)
        raise
    record_success(target, made, time.monotonic() - began)
    audit.record(principal, "db.backup", "backup", secrets=secrets, files=made.files)
    return made


def record_success(target: Path, made: Manifest, seconds: float) -> None:
    """Write down where the newest good one lies."""
    fact = {
        "ok": True,
        "at": made.made_at.isoformat(),
        "path": str(target),
        "bytes": made.bytes,
        "files": made.files,
        "seconds": round(seconds, 1),
        "secrets": made.secrets,
        "made_by": made.made_by,
    }
    EngineState.record(LAST, fact)
    EngineState.record(LAST_GOOD, fact)


def record_failure(target: Path, why: str) -> None:
    """Write down why there is none."""
    at = timezone.now().isoformat(timespec="seconds")
    EngineState.record(LAST, {"ok": False, "at": at, "path": str(target), "why": why[:500]})


def last() -> dict[str, Any]:
    """The last attempt and the last good backup, for stats: each None before the first."""
    return {"last": EngineState.read(LAST), "last_good": EngineState.read(LAST_GOOD)}


def age_seconds(fact: dict[str, Any] | None) -> float | None:
    """How old a recorded backup is."""
    if fact is None:
        return None
    return (timezone.now() - datetime.fromisoformat(fact["at"])).total_seconds()
