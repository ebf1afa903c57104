"""Old parts out, new parts in, by renames that a plan on the disk carries through any death."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from goclaw_site.errors import ConfigError
from memory.backups import sealing
from memory.backups.databases import flush

STAGE = ".restore"
PLAN = "plan.json"
_LOCK = "run/restore.lock"


@dataclass(frozen=True)
class Move:
    """What stands at `target` goes to `old`; then `new`, where there is one, takes its place.

    Paths are relative to the state directory, or absolute outside it. `name` is that in a backup.
    """

    name: str
    target: str
    old: str
    new: str | None = None


@dataclass(frozen=True)
class Kept:
    """The folder, in the state directory, that becomes a backup of what was there."""

    folder: str
    secrets: bool
    database_only: bool = False


@dataclass(frozen=True)
class Plan:
    """All that a restore does once it has begun."""

    moves: list[Move]
    kept: Kept | None


def write_plan(state: Path, plan: Plan) -> None:
    """From now on the new state counts: whatever happens, the next start finishes it."""
    stage = state / STAGE
    draft = stage / f".{PLAN}"
    with draft.open("w", encoding="utf-8") as out:
        json.dump(asdict(plan), out)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(stage / PLAN)
    flush(stage)


def carry_out(state: Path) -> None:
    """Do what is left of the plan, then remove it. Safe to run twice."""
    plan = _read(state / STAGE / PLAN)
    for move in plan.moves:
        _carry_out(state, move)
    for folder in {(state / move.target).parent for move in plan.moves}:
        flush(folder)
    if plan.kept is not None:
        kept = plan.kept
        sealing.seal(state / kept.folder, secrets=kept.secrets, database_only=kept.database_only)
    (state / STAGE / PLAN).unlink()
    shutil.rmtree(state / STAGE)


def finish_interrupted(state: Path) -> None:
    """Finish a restore that was killed, or clear away one that had not begun to move anything.

    Called before anything is read from the state directory. Raise ConfigError while one runs.
    """
    stage = state / STAGE
    if not stage.exists():
        return
    with alone(state):
        if (stage / PLAN).exists():
            carry_out(state)
        else:
            shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def alone(state: Path) -> Iterator[None]:
    """Hold the lock of restores. Raise ConfigError where another process does."""
    file = state / _LOCK
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ConfigError(
            f"A restore is running on {state}. Wait until it has ended, then try again."
        ) from None
    try:
        yield
    finally:
        os.close(handle)


def _read(file: Path) -> Plan:
    held = json.loads(file.read_text(encoding="utf-8"))
    kept = Kept(**held["kept"]) if held["kept"] else None
    return Plan([Move(**move) for move in held["moves"]], kept)


def _carry_out(state: Path, move: Move) -> None:
    target, old = state / move.target, state / move.old
    new = state / move.new if move.new else None
    if new is not None and not os.path.lexists(new):
        return
    if os.path.lexists(target) and not os.path.lexists(old):
        old.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.rename(old)
    if new is not None:
        new.rename(target)
