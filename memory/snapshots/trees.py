"""Files in a snapshot: workspaces and media, read without following links, written beside."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from goclaw_site.errors import InvalidInput, Unavailable

FILES, ATTACHMENTS = "files", "attachments"
_BLOCK = 256 * 1024
_MOST_PATH, _MOST_NAME, _MOST_DEEP = 2000, 255, 64
#: What has to stay free on the disk beside the files of a snapshot.
_SPARE = 64 * 1024 * 1024


@dataclass(frozen=True)
class Found:
    """A file to carry by its path in the state directory, or why something there is not carried."""

    path: str
    reason: str = ""


def trees(state: Path, holds: set[str]) -> list[str]:
    """Return the folders that these words stand for, as paths in the state directory."""
    found = []
    if FILES in holds:
        agents = sorted((state / "agents").glob("*/workspace"))
        found += ["workspace", *(str(folder.relative_to(state)) for folder in agents)]
    if ATTACHMENTS in holds:
        found.append("media")
    return found


def belongs(path: str, holds: set[str]) -> bool:
    """Tell whether a path lies in a folder that a snapshot with these words may hold."""
    top, _, rest = path.partition("/")
    if top == "media":
        return ATTACHMENTS in holds
    inner = rest.split("/")
    in_agent = top == "agents" and len(inner) >= 3 and inner[1] == "workspace"
    return FILES in holds and (top == "workspace" or in_agent)


def tree_of(path: str) -> str:
    """Return the folder that a path belongs to."""
    parts = path.split("/")
    return "/".join(parts[:3] if parts[0] == "agents" else parts[:1])


def check_path(path: object, before: str) -> str:
    """Return a path that stays inside the state directory and comes after the one before it.

    Raises InvalidInput for a path that climbs, begins at the root, stands twice, or is a file where
    another one has a folder.
    """
    if not isinstance(path, str) or not 0 < len(path.encode("utf-8", "replace")) <= _MOST_PATH:
        raise InvalidInput("it holds a file without a usable path")
    parts = path.split("/")
    if len(parts) < 2 or len(parts) > _MOST_DEEP or any(_is_bad(part) for part in parts):
        raise InvalidInput(f"it holds a file with the path {path[:80]!r}, which is not allowed")
    held = before.split("/")
    if before and (parts <= held or parts[: len(held)] == held):
        raise InvalidInput(f"its file {path[:80]!r} stands where another one does")
    return path


def _is_bad(part: str) -> bool:
    odd = any(ch < " " or ch == "\\" or "\ud800" <= ch <= "\udfff" for ch in part)
    return odd or part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > _MOST_NAME


def walk(state: Path, holds: set[str]) -> Iterator[Found]:
    """Yield the files of these folders, ordered by the parts of their paths."""
    for tree in sorted(trees(state, holds), key=lambda path: path.split("/")):
        if (state / tree).is_symlink():
            yield Found(tree, "is a link: its files are not carried")
        else:
            yield from _walk(state, tree)


def _walk(state: Path, folder: str) -> Iterator[Found]:
    try:
        entries = sorted(os.scandir(state / folder), key=lambda entry: entry.name)
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            yield Found(folder, f"cannot be read: {error.strerror}")
        return
    for entry in entries:
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(state, path)
        elif not entry.is_file(follow_symlinks=False):
            yield Found(path, "is a link or no plain file")
        else:
            yield _found(path)


def _found(path: str) -> Found:
    try:
        return Found(check_path(path, ""))
    except InvalidInput:
        return Found(path, "has a name that other machines cannot hold")


def blocks(file: Path) -> Iterator[bytes]:
    """Yield the bytes of a plain file. Raises OSError, also for a link put there meanwhile."""
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as held:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("no plain file")
        while block := held.read(_BLOCK):
            yield block


def discard_abandoned(state: Path, but: str) -> None:
    """Remove what imports left whose process is gone, except one that is still to be finished."""
    for folder in (state / "run").glob("import-*"):
        process = folder.name.split("-")[1]
        if folder.name != but and process.isdigit() and not _runs(int(process)):
            shutil.rmtree(folder, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class Stage:
    """Files of an import, kept beside until the database has them: `<state>/run/import-...`."""

    def __init__(self, state: Path, name: str = "") -> None:
        self.state = state
        self.name = name or f"import-{os.getpid()}-{secrets.token_hex(8)}"
        self.folder = state / "run" / self.name

    def require_space(self, size: int) -> None:
        """Raise Unavailable where the disk would be full before the end."""
        free = shutil.disk_usage(self.state).free
        if size and free < size + _SPARE:
            raise Unavailable(
                f"The files of the snapshot take {size / 1e6:,.0f} MB and {self.state} has "
                f"{free / 1e6:,.0f} MB left. Nothing was changed."
            )

    def create(self, path: str) -> IO[bytes]:
        """Return the new file for a checked path."""
        target = self.folder / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return os.fdopen(os.open(target, flags, 0o600), "wb")

    def discard(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def complete(self, holds: set[str]) -> None:
        """Let every folder that is to be exchanged stand here, empty ones too."""
        for tree in trees(self.state, holds):
            (self.folder / tree).mkdir(mode=0o700, parents=True, exist_ok=True)

    def put_in_place(self) -> Path | None:
        """Exchange the folders; return where the former ones are, or None.

        A folder that stands here still has to go: done again after an interruption, it goes on.
        """
        former = self.state / "backups" / f"files_{datetime.now(UTC):%Y%m%dT%H%M%S_%fZ}"
        for tree in trees(self.folder, {FILES, ATTACHMENTS}):
            if (self.folder / tree).is_dir():
                _exchange(self.state / tree, self.folder / tree, former / tree)
        self.discard()
        return former if former.exists() else None


def _exchange(target: Path, staged: Path, former: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if target.is_symlink() or (target.is_dir() and any(target.iterdir())):
        former.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.rename(former)
    elif target.is_dir():
        target.rmdir()
    staged.rename(target)
