"""The way back: everything is laid out and checked first, then swapped in."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from goclaw_site.errors import ConfigError, Conflict, GoclawError, InvalidInput, Unavailable
from goclaw_site.state import prepare_state_dir
from memory.backups import databases, manifest, swapping
from memory.backups.contents import (
    BACKUPS,
    CONFIG,
    CREDENTIALS,
    DATABASE,
    NAMES,
    SQLITE,
    Layout,
    layout,
    occupied,
)
from memory.backups.manifest import Manifest
from memory.backups.moving import moves, refuse_mounts
from memory.backups.swapping import STAGE, Kept, Plan

UP_LOCK = "run/up.lock"
_BLOCK = 1 << 20
#: What a file system needs beside the bytes of the files.
_ROOM = 16 << 20

Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class Restored:
    """What a restore did; `before` holds what was there, where anything was."""

    manifest: Manifest
    before: Path | None


def in_the_way(state: Path, papers: Manifest) -> list[str]:
    """The parts of a state directory that a restore would move aside. Raise Conflict."""
    if (state / UP_LOCK).exists():
        with _no_server(state):
            pass
    return _occupied(_current(state), papers)


def restore(source: Path, state: Path, watch: Watch = lambda done, total: None) -> Restored:
    """Put a backup into the state directory; what is there moves aside, as a backup of its own.

    Raises Conflict while a server or another process uses it; InvalidInput, Unavailable. The state
    is the old one then, whole.
    """
    papers = manifest.read(source)
    with _no_server(state), swapping.alone(state):
        if (state / STAGE / swapping.PLAN).exists():
            swapping.carry_out(state)
        current = _current(state)
        coming = current if papers.database_only else layout(state, source / CONFIG)
        _refuse_users(current)
        before = _aside(state) if _occupied(current, papers) else None
        with _cleared(state):
            plan = _prepare(source, papers, current, coming, before, watch)
            swapping.write_plan(state, plan)
        swapping.carry_out(state)
    return Restored(papers, before)


def _prepare(
    source: Path,
    papers: Manifest,
    current: Layout,
    coming: Layout,
    before: Path | None,
    watch: Watch,
) -> Plan:
    state = current.state
    old = before or state / STAGE / "old"
    planned = moves(papers, current, coming, old)
    refuse_mounts(state, planned)
    _lay_out(source, {move.name: state / move.new for move in planned if move.new}, papers, watch)
    if before is None:
        return Plan(planned, None)
    folder = str(before.relative_to(state))
    return Plan(planned, Kept(folder, papers.secrets, papers.database_only))


@contextmanager
def _cleared(state: Path) -> Iterator[None]:
    """Nothing is left of what failed before the plan was there."""
    stage = state / STAGE
    shutil.rmtree(stage, ignore_errors=True)
    try:
        stage.mkdir(mode=0o700)
        yield
    except OSError as error:
        shutil.rmtree(stage, ignore_errors=True)
        reason = error.strerror or str(error)
        raise Unavailable(f"Nothing was restored: {reason}. {state} is as it was.") from None
    except (GoclawError, KeyboardInterrupt):
        shutil.rmtree(stage, ignore_errors=True)
        raise


def _occupied(current: Layout, papers: Manifest) -> list[str]:
    moved = set(NAMES) - (set() if papers.secrets else {CREDENTIALS})
    if papers.database_only:
        moved = {DATABASE}
    return [name for name in occupied(current) if name in moved]


def _current(state: Path) -> Layout:
    """A configuration that nobody can read says nothing of the database: its usual place, then."""
    try:
        return layout(state)
    except ConfigError:
        return replace(layout(state, Path(os.devnull)), state=state)


@contextmanager
def _no_server(state: Path) -> Iterator[None]:
    """Keep `goclaw up` out meanwhile. Raise Conflict where it runs."""
    lock = state / UP_LOCK
    try:
        # What lies on a network is refused when the server starts, with the key that allows it.
        prepare_state_dir(state, allow_network_filesystem=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unavailable(f"{state} cannot be written: {error.strerror}.") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(handle, 20).decode(errors="replace").strip() or "unknown"
        os.close(handle)
        raise Conflict(
            f"The server runs on {state} (process {holder}). Stop it, then restore. Nothing was "
            "changed."
        ) from None
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def _refuse_users(current: Layout) -> None:
    """A worker or a command of its own would go on writing into the old file."""
    for name in SQLITE:
        file = current.place(name)
        if file.exists() and not databases.let_go(file):
            raise Conflict(
                f"Another process, such as a worker or a command, has {file} open. Stop it, then "
                "restore. Nothing was changed."
            )


def _aside(state: Path) -> Path:
    """Where what is there goes: among the backups, unless those lie on another disk."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S_%fZ")
    backups = state / BACKUPS
    backups.mkdir(mode=0o700, exist_ok=True)
    near = backups if backups.stat().st_dev == state.stat().st_dev else state
    return near / f"before-restore-{stamp}"


def _lay_out(source: Path, places: dict[str, Path], papers: Manifest, watch: Watch) -> None:
    """Copy each file to where the plan takes it from, and check again what arrives there."""
    _refuse_full_disk(papers, places)
    done = 0
    for name, digest in manifest.sums(source):
        top, _, inner = name.partition("/")
        target = places[top] / inner if inner else places[top]
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        done += _copy(source / name, target, digest)
        watch(done, papers.bytes)


def _refuse_full_disk(papers: Manifest, places: dict[str, Path]) -> None:
    for place in places.values():
        folder = next(above for above in place.parents if above.exists())
        free = shutil.disk_usage(folder).free
        if papers.bytes + _ROOM > free:
            raise Unavailable(
                f"The restore needs about {papers.bytes / 1e6:,.0f} MB beside what is there, and "
                f"{folder} has {free / 1e6:,.0f} MB free. Nothing was changed."
            )


def _copy(source: Path, target: Path, digest: str) -> int:
    found = hashlib.sha256()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with source.open("rb") as held, os.fdopen(os.open(target, flags, 0o600), "wb") as out:
        while block := held.read(_BLOCK):
            found.update(block)
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
        size = out.tell()
    if found.hexdigest() != digest:
        raise InvalidInput(f"{source} changed while it was read. Nothing was restored.")
    return size
