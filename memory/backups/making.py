"""A backup of everything in one folder: built beside its place, whole before it has its name."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from goclaw_site.errors import GoclawError, InvalidInput, Unavailable
from memory.backups import databases, manifest, sealing
from memory.backups.contents import BACKUPS, DATABASE, DUMP, SQLITE, Found, Layout, files
from memory.backups.manifest import Manifest

_BLOCK = 1 << 20
#: What a file system needs beside the bytes of the files.
_ROOM = 16 << 20

#: Told of bytes done and of all bytes; raises to stop the work.
Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class Wish:
    """What to back up, and where to."""

    target: Path
    layout: Layout
    driver: str = "sqlite"
    secrets: bool = False
    made_by: str = "command"


class Making:
    """One backup in the making. With `resume` it goes on where another process was stopped."""

    def __init__(
        self, wish: Wish, watch: Watch = lambda done, total: None, *, resume: bool = False
    ) -> None:
        check_target(wish)
        self.wish = wish
        self.part = wish.target.with_name(f".{wish.target.name}.part")
        self._watch = watch
        self._resume = resume
        self._left_out: list[str] = []
        self._done = 0
        self._total = 0

    def work(self, deadline: float) -> Manifest | None:
        """Go on until the deadline (monotonic seconds); the manifest once the backup is whole.

        Raises InvalidInput or Unavailable, and leaves nothing half-made then.
        """
        with self._alone(), self._clean():
            self._begin()
            if not self._copy_files(deadline):
                return None
            return self._finish()

    def drop(self) -> None:
        """Remove what has been made so far."""
        shutil.rmtree(self.part, ignore_errors=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One backup at a time goes into a folder; the lock goes with the process."""
        folder = self.wish.target.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY)
        except OSError as error:
            raise Unavailable(_failed(self.wish.target, error)) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise Unavailable(
                f"Another backup into {folder} is running. Try again later."
            ) from None
        finally:
            os.close(handle)

    @contextmanager
    def _clean(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            self.drop()
            raise Unavailable(_failed(self.wish.target, error)) from None
        except (GoclawError, KeyboardInterrupt):
            self.drop()
            raise

    def _begin(self) -> None:
        """The databases first: a row may name a file, so files are read after the rows."""
        held = self.wish.layout
        found = [one.path for one in files(held, secrets=self.wish.secrets, left_out=[])]
        sources = [held.place(name) for name in SQLITE if held.database or name != DATABASE]
        self._total = sum(map(_size, [*found, *sources]))
        _bring_back(self.wish.target)
        if self._resume and (self.part / manifest.SUMS).exists():
            _cut_to_whole_lines(self.part / manifest.SUMS)
            return
        self.drop()
        self._refuse_full_disk()
        self.part.mkdir(mode=0o700)
        self._copy_databases()

    def _refuse_full_disk(self) -> None:
        free = shutil.disk_usage(self.wish.target.parent).free
        if self._total + _ROOM > free:
            raise Unavailable(
                f"The backup needs about {self._total / 1e6:,.0f} MB, and "
                f"{self.wish.target.parent} has {free / 1e6:,.0f} MB free. Nothing was written."
            )

    def _copy_databases(self) -> None:
        lines = []
        for name in SQLITE:
            source, made = self.wish.layout.place(name), self.part / name
            wanted = self.wish.layout.database is not None if name == DATABASE else source.exists()
            if not wanted:
                continue
            databases.copy(source, made, self._tell_more)
            self._done += made.stat().st_size
            if found := databases.problem(made):
                raise Unavailable(
                    f"The database {source} is damaged ({found}): no backup was made. Stop the "
                    "server, keep a plain copy of its files, and restore the last good backup."
                )
            lines.append(manifest.line(name, manifest.sha256(made)))
        if self.wish.driver == "postgresql":
            lines.append(self._dumped())
        _write(self.part / manifest.SUMS, b"".join(lines))

    def _dumped(self) -> bytes:
        # Late: it needs Django, which restores do without.
        from memory.backups import dumps

        made = self.part / DUMP
        dumps.dump(made)
        self._done += made.stat().st_size
        return manifest.line(DUMP, manifest.sha256(made))

    def _copy_files(self, deadline: float) -> bool:
        """False where the time is up. Files that vanish meanwhile were deleted: no loss."""
        done = {name for name, _ in manifest.sums(self.part)}
        self._done = sum((self.part / name).stat().st_size for name in done)
        self._left_out.clear()
        wanted = files(self.wish.layout, secrets=self.wish.secrets, left_out=self._left_out)
        with (self.part / manifest.SUMS).open("ab") as out:
            for one in wanted:
                if one.name in done:
                    continue
                if time.monotonic() > deadline:
                    return False
                if digest := self._copy(one):
                    out.write(manifest.line(one.name, digest))
                    out.flush()
            os.fsync(out.fileno())
        return True

    def _copy(self, one: Found) -> str | None:
        made = self.part / one.name
        try:
            source = one.path.open("rb")
        except FileNotFoundError:
            return None
        _make_folders(made.parent)
        digest = hashlib.sha256()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with source, os.fdopen(os.open(made, flags, 0o600), "wb") as out:
            while block := source.read(_BLOCK):
                digest.update(block)
                out.write(block)
                self._tell(self._done + out.tell())
            out.flush()
            os.fsync(out.fileno())
            self._done += out.tell()
        return digest.hexdigest()

    def _finish(self) -> Manifest:
        made = sealing.described(self.part, secrets=self.wish.secrets)
        made = replace(
            made,
            driver=self.wish.driver,
            made_by=self.wish.made_by,
            left_out=self._left_out[:100],
        )
        manifest.write(self.part, made)
        databases.flush(self.part)
        _put(self.part, self.wish.target)
        return made

    def _tell_more(self, done: int, _: int) -> None:
        self._tell(self._done + done)

    def _tell(self, done: int) -> None:
        self._watch(done, max(self._total, done))


def make(wish: Wish, watch: Watch = lambda done, total: None) -> Manifest:
    """All of it at once. Raise InvalidInput, Unavailable."""
    made = Making(wish, watch).work(float("inf"))
    assert made is not None
    return made


def check_target(wish: Wish) -> None:
    """Raise InvalidInput for a place where a backup would harm, or be harmed."""
    target, state = wish.target.resolve(), wish.layout.state.resolve()
    if state.is_relative_to(target):
        raise InvalidInput(f"{target} holds the state directory. Name a folder beside it.")
    inside = target.is_relative_to(state) and target != state / BACKUPS
    if inside and not target.is_relative_to(state / BACKUPS):
        raise InvalidInput(
            f"{target} lies in the state directory, which is what is copied. Name a folder "
            f"elsewhere, best on another disk, or one below {state / BACKUPS}."
        )
    if target == state / BACKUPS:
        raise InvalidInput(f"{target} holds many backups. Name a folder in it: {target / 'mine'}.")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise InvalidInput(f"{target} is there already, and is no folder.")
    if os.path.ismount(target):
        raise InvalidInput(f"{target} is a whole disk. Name a folder on it: {target / 'goclaw'}.")
    if target.is_dir() and any(target.iterdir()) and not manifest.is_backup(target):
        raise InvalidInput(
            f"{target} is not empty and holds no backup of this server. Nothing in it was touched. "
            "Name a folder that does not exist yet."
        )


def _put(part: Path, target: Path) -> None:
    """An older backup of that name goes when the new one has taken its place."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    part.rename(target)
    databases.flush(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def _bring_back(target: Path) -> None:
    """A process that was killed between two renames left the older backup under its other name."""
    old = target.with_name(f".{target.name}.old")
    if old.exists() and not target.exists():
        old.rename(target)


def _cut_to_whole_lines(file: Path) -> None:
    with file.open("r+b") as held:
        held.truncate(held.read().rfind(b"\n") + 1)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _make_folders(folder: Path) -> None:
    if not folder.exists():
        _make_folders(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _write(file: Path, content: bytes) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _failed(target: Path, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    name = getattr(error, "filename", None)
    about = f" ({name})" if name and not str(name).startswith(str(target.parent)) else ""
    return f"The backup {target} could not be made: {reason}{about}. Nothing is left of it."
