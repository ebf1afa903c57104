"""Which part goes where in a restore, and what stands in its way."""

from __future__ import annotations

from pathlib import Path

from goclaw_site.errors import Conflict
from memory.backups.contents import (
    CONFIG,
    CREDENTIALS,
    DATABASE,
    FOLDERS,
    GRAPH,
    SQLITE,
    Layout,
)
from memory.backups.manifest import Manifest
from memory.backups.swapping import STAGE, Move

_COMPANIONS = ("-wal", "-shm", "-journal")


def moves(papers: Manifest, current: Layout, coming: Layout, old: Path) -> list[Move]:
    """Every part of the old state goes; every part of the backup comes.

    Credentials stay as they are where the backup has none.
    """
    if papers.database_only:
        return _of_database(DATABASE, papers, current, coming, old)
    found: list[Move] = []
    for name in SQLITE:
        if name == GRAPH or coming.database is not None:
            found += _of_database(name, papers, current, coming, old)
    for name in (*FOLDERS, CONFIG, *((CREDENTIALS,) if papers.secrets else ())):
        found.append(_move(name, coming.place(name), papers, coming, old))
    return found


def refuse_mounts(state: Path, planned: list[Move]) -> None:
    """Raise Conflict where a part is a mount point, which nothing can rename."""
    points = _mount_points()
    for move in planned:
        if str(state / move.target) in points:
            raise Conflict(
                f"{state / move.target} is mounted there by itself, so a restore cannot put the "
                "other one in its place. Unmount it for the restore. Nothing was changed."
            )


def _of_database(
    name: str, papers: Manifest, current: Layout, coming: Layout, old: Path
) -> list[Move]:
    found = []
    for place in dict.fromkeys((current.place(name), coming.place(name))):
        for end in _COMPANIONS:
            companion = place.with_name(place.name + end)
            found.append(_away(name + end, companion, coming, old))
    if current.place(name) != coming.place(name):
        found.append(_away(name, current.place(name), coming, old))
    return [*found, _move(name, coming.place(name), papers, coming, old)]


def _move(name: str, target: Path, papers: Manifest, held: Layout, old: Path) -> Move:
    away = _away(name, target, held, old)
    if name not in papers.parts:
        return away
    stage = held.state / STAGE / "new" / name
    new = stage if _inside(target, held) else target.with_name(f".{target.name}.restore")
    return Move(name, away.target, away.old, _text(new, held))


def _away(name: str, target: Path, held: Layout, old: Path) -> Move:
    """A database elsewhere stays there under another name: a rename does not cross disks."""
    place = old / name if _inside(target, held) else target.with_name(f"{target.name}.{old.name}")
    return Move(name, _text(target, held), _text(place, held))


def _inside(path: Path, held: Layout) -> bool:
    return path.is_relative_to(held.state)


def _text(path: Path, held: Layout) -> str:
    return str(path.relative_to(held.state)) if _inside(path, held) else str(path)


def _mount_points() -> set[str]:
    try:
        text = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return {line.split()[1].replace("\\040", " ") for line in text.splitlines() if " " in line}
