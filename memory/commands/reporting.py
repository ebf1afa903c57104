"""How the commands that move whole installations tell of their work."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.progress import Progress, TaskID

from memory.snapshots import tables


def reporter(bars: Progress) -> Callable[[str, int, int], None]:
    """Return what moves the bar of each step; a step without a total only counts."""
    tasks: dict[str, TaskID] = {}

    def tell(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(what, total=None)
        bars.update(tasks[what], completed=done, total=total or None)

    return tell


def counted(rows: Mapping[str, int]) -> str:
    """Return the tables that people know, with their counts."""
    return ", ".join(tables.counted(name, rows[name]) for name in tables.WORDS if name in rows)


def sized(size: int) -> str:
    """Return a number of bytes as people read it."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"
