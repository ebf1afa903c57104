"""A folder or a zip of files, read without trust: nothing climbs out, nothing swells up."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Protocol

from goclaw_site.errors import InvalidInput, TooLarge

MAX_ENTRIES = 100_000
MAX_TOTAL = 8 * 1024**3
#: Text shrinks to a tenth, a page of blanks to a thousandth: this is no document any more.
MAX_RATIO = 200
_SMALL = 1024**2
_AT_ONCE = 256 * 1024


class Source(Protocol):
    """Files by their paths, as 'guide/images/a.png'."""

    names: frozenset[str]

    def read(self, name: str, limit: int) -> bytes:
        """Return a file. Raise TooLarge where it holds more than `limit` bytes."""

    def parts(self, name: str) -> Iterator[bytes]:
        """Yield a file in parts."""


def open_source(path: Path) -> AbstractContextManager[Source]:
    """Return a folder or a zip as a source. Raise InvalidInput, TooLarge."""
    if path.is_dir():
        return Folder(path)
    if not path.is_file():
        raise InvalidInput(f"{path} is neither a folder nor a zip file.", field="path")
    if not zipfile.is_zipfile(path):
        raise InvalidInput(f"{path} is no zip file, or a damaged one.", field="path")
    return Archive(path)


class Folder(AbstractContextManager["Folder"]):
    """A folder; links and hidden files are left out."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.names = frozenset(self._walk())

    def _walk(self) -> Iterator[str]:
        for folder, inner, files in os.walk(self._root):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            here = Path(folder)
            for name in files:
                path = here / name
                if not name.startswith(".") and path.is_file() and not path.is_symlink():
                    yield path.relative_to(self._root).as_posix()

    def read(self, name: str, limit: int) -> bytes:
        """Return a file."""
        with self._open(name) as file:
            return _limited(name, file, limit)

    def parts(self, name: str) -> Iterator[bytes]:
        """Yield a file in parts."""
        with self._open(name) as file:
            while part := file.read(_AT_ONCE):
                yield part

    def _open(self, name: str) -> IO[bytes]:
        return (self._root / name).open("rb")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is held open."""


class Archive(AbstractContextManager["Archive"]):
    """A zip; the whole list of its files is looked at before any of them is read."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
            raise InvalidInput(f"{path} cannot be read: {error}.", field="path") from None
        try:
            self._entries = dict(self._checked())
        except BaseException:
            self._zip.close()
            raise
        self.names = frozenset(self._entries)

    def _checked(self) -> Iterator[tuple[str, zipfile.ZipInfo]]:
        entries = self._zip.infolist()
        if len(entries) > MAX_ENTRIES:
            raise TooLarge(f"The zip holds {len(entries):,} files; the limit is {MAX_ENTRIES:,}.")
        if (total := sum(entry.file_size for entry in entries)) > MAX_TOTAL:
            raise TooLarge(f"The zip unpacks to {total / 1024**3:.1f} GiB; the limit is 8 GiB.")
        seen: set[str] = set()
        for entry in entries:
            _require_plain(entry)
            if entry.is_dir() or _hidden(entry.filename):
                continue
            if entry.filename in seen:
                raise InvalidInput(f"The zip holds '{entry.filename[:100]}' twice.")
            seen.add(entry.filename)
            yield entry.filename, entry

    def read(self, name: str, limit: int) -> bytes:
        """Return a file; what the list says of its size is not believed."""
        with self._open(name) as file:
            return _limited(name, file, limit)

    def parts(self, name: str) -> Iterator[bytes]:
        """Yield a file in parts, no more than the list says it holds."""
        left = self._entries[name].file_size
        with self._open(name) as file:
            while part := file.read(_AT_ONCE):
                left -= len(part)
                if left < 0:
                    raise InvalidInput(f"'{name[:100]}' holds more than the zip says.")
                yield part

    def _open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(self._entries[name])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise InvalidInput(f"'{name[:100]}' in the zip cannot be read: {error}.") from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()


def _require_plain(entry: zipfile.ZipInfo) -> None:
    """Raise InvalidInput for paths that climb, links, passwords and bombs."""
    name = entry.filename
    shown = name[:100]
    parts = PurePosixPath(name).parts
    if name.startswith("/") or "\\" in name or ".." in parts or ":" in name.partition("/")[0]:
        raise InvalidInput(f"The zip has a path that leaves its folder: '{shown}'.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InvalidInput(f"The zip holds a link, '{shown}'; only files are taken.")
    if entry.flag_bits & 1:
        raise InvalidInput(f"'{shown}' in the zip has a password.")
    if entry.file_size > _SMALL and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
        raise TooLarge(f"'{shown}' in the zip unpacks to more than {MAX_RATIO} times its size.")


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _limited(name: str, file: IO[bytes], limit: int) -> bytes:
    try:
        content = file.read(limit + 1)
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise InvalidInput(f"'{name[:100]}' cannot be read: {error}.") from None
    if len(content) > limit:
        raise TooLarge(f"'{name[:100]}' has more than {limit:,} bytes.")
    return content
