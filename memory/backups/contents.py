"""What an installation consists of, where its parts lie, and their names in a backup."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from goclaw_site.config import database_place

DATABASE, GRAPH, CONFIG = "gc_state.sqlite", "kg.sqlite", "config.yaml"
CREDENTIALS, BACKUPS = "credentials", "backups"
SQLITE = (DATABASE, GRAPH)
#: PostgreSQL's rows; in a state directory it waits for the next start, which loads it.
DUMP = "gc_state.dump"
FOLDERS = ("workspace", "agents", "media")
#: Every name at the top of a backup, beside its own papers.
NAMES = (*SQLITE, DUMP, CONFIG, *FOLDERS, CREDENTIALS)
#: Files of a moment, which mean nothing elsewhere.
_PASSING = ("vault.lock",)


@dataclass(frozen=True)
class Layout:
    """Where the parts of one installation lie; `database` is None on other database systems."""

    state: Path
    database: Path | None
    graph: Path

    def place(self, name: str) -> Path:
        """The place of a name at the top of a backup."""
        special = {DATABASE: self.database or self.state / DATABASE, GRAPH: self.graph}
        return special.get(name, self.state / name)


@dataclass(frozen=True)
class Found:
    """One file to copy, and its name in the backup."""

    path: Path
    name: str


def layout(state: Path, config_file: Path | None = None) -> Layout:
    """Read off the configuration as it is written, so that it need not be whole."""
    database = database_place(state, config_file)
    return Layout(state, database, state / GRAPH)


def files(held: Layout, *, secrets: bool, left_out: list[str]) -> Iterator[Found]:
    """Every file beside the databases, in a stable order.

    What is neither a file nor a folder (links, sockets) is named in `left_out`.
    """
    names = (CONFIG, *FOLDERS, *((CREDENTIALS,) if secrets else ()))
    for name in names:
        # A folder of the state directory may be a link to another disk; below it none is followed.
        place = held.place(name).resolve()
        if place.is_file():
            yield Found(place, name)
        elif place.is_dir():
            yield from below(place, name, left_out)


def occupied(held: Layout) -> list[str]:
    """The names of what is there already; empty folders do not count."""
    found = [name for name in (*SQLITE, CONFIG) if held.place(name).exists()]
    folders = [name for name in FOLDERS if any(below(held.place(name), name, []))]
    vault = held.place(CREDENTIALS) / "secrets.enc"
    return [*found, *folders, *([CREDENTIALS] if vault.exists() else [])]


def below(folder: Path, name: str, left_out: list[str]) -> Iterator[Found]:
    """Every file below a folder that is called `name` in a backup."""
    for root, folders, names in os.walk(folder, onerror=_refuse):
        folders.sort()
        base = Path(root)
        for entry in [*(one for one in folders if (base / one).is_symlink()), *sorted(names)]:
            path = base / entry
            inner = f"{name}/{path.relative_to(folder)}"
            if path.is_symlink() or not path.is_file():
                left_out.append(inner)
            elif entry not in _PASSING:
                yield Found(path, inner)


def _refuse(error: OSError) -> None:
    """A folder that cannot be read would be missing from the backup without a word."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error
