"""What backups there are, and what each of them lacks, in words."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

from goclaw_site.config import state_dir
from goclaw_site.errors import InvalidInput
from memory.backups import automatic, manifest, recording, scheduled
from memory.backups.contents import BACKUPS, DUMP
from memory.backups.manifest import Manifest

#: A good backup that is older than this is a reason to worry.
WORRYING = timedelta(days=2)
_SHOWN = 50
_MAKERS = {
    scheduled.SCHEDULE: "By the clock",
    scheduled.PAGE: "On this page",
    "command": "By a command",
    "restore": "Before a restore",
}


@dataclass(frozen=True)
class Listed:
    """One backup as people see it; `problem` says why it cannot be used."""

    path: Path
    made_at: datetime
    bytes: int
    maker: str
    lacks: tuple[str, ...] = ()
    problem: str = ""

    @property
    def command(self) -> str:
        """What brings it back."""
        return restore_command(self.path)


def restore_command(path: Path) -> str:
    """What brings a backup back into this installation, ready to be pasted into a shell."""
    command = f"goclaw db restore {shlex.quote(str(path))}"
    is_usual = state_dir() == state_dir({})
    return command if is_usual else f"GOCLAW_STATE_DIR={shlex.quote(str(state_dir()))} {command}"


def everything() -> list[Listed]:
    """Whole backups of the known folders, newest first. Their checksums are not looked at here."""
    places = {scheduled.folder(), state_dir() / BACKUPS}
    paths = {path for place in places if place.is_dir() for path in place.iterdir()}
    last = recording.last()["last_good"]
    if last is not None:
        paths.add(Path(last["path"]))
    found = [_listed(path) for path in paths if path.is_dir() and not path.name.startswith(".")]
    rows = [row for row in found if row is not None]
    return sorted(rows, key=lambda row: row.made_at, reverse=True)[:_SHOWN]


def copies() -> list[Listed]:
    """Copies of the database alone, from before deletions and upgrades, newest first."""
    return [_copy(path) for path in automatic.found()[:_SHOWN]]


def worry() -> str:
    """What an administrator should know about the last good backup; empty where all is well."""
    held = recording.last()
    age = recording.age_seconds(held["last_good"])
    if age is None:
        return "There is no backup yet."
    if age > WORRYING.total_seconds():
        return f"The last good backup is {int(age // 86_400)} days old."
    last = held["last"]
    return "" if last["ok"] else f"The last try failed: {last['why']}"


def _listed(path: Path) -> Listed | None:
    if not manifest.is_backup(path):
        return None
    try:
        papers = manifest.read(path)
    except InvalidInput as error:
        moment = datetime.fromtimestamp(path.stat().st_mtime, timezone.get_current_timezone())
        return Listed(path, moment, 0, "Unknown", problem=error.message)
    maker = _MAKERS.get(papers.made_by, papers.made_by)
    return Listed(path, papers.made_at, papers.bytes, maker, tuple(_lacks(papers)))


def _lacks(papers: Manifest) -> list[str]:
    found = []
    if papers.database_only:
        return ["all but the database"]
    if papers.driver != "sqlite" and DUMP not in papers.parts:
        found.append(f"rows ({papers.driver})")
    if not papers.secrets:
        found.append("secrets")
    if papers.left_out:
        found.append(f"links ({len(papers.left_out)})")
    return found


def _copy(path: Path) -> Listed:
    held = path.stat()
    moment = datetime.fromtimestamp(held.st_mtime, timezone.get_current_timezone())
    return Listed(path, moment, held.st_size, "Before a deletion or an upgrade")
