"""Reads files and folders into items for `memory ingest`: pure, streaming, faults stay apart."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from memory.ingesting.files import guarded, read_file
from memory.ingesting.folders import read_folder
from memory.ingesting.items import CONTENT_LIMIT, Fault, Item

__all__ = ["CONTENT_LIMIT", "Fault", "Item", "read"]


def read(path: Path) -> Iterator[Item | Fault]:
    """The items of a file, or of all files below a folder, in the order of their names.

    A source id is the path below the folder with `/`, in NFC; for a single file its name. A single
    file of another suffix is read as text, since somebody asked for it by name.
    """
    name = unicodedata.normalize("NFC", path.name or str(path))
    yield from guarded(name, _read(path, name))


def _read(path: Path, name: str) -> Iterator[Item | Fault]:
    if path.is_dir():
        yield from read_folder(path, name)
    elif path.is_file():
        yield from read_file(path, name)
    elif path.exists():
        yield Fault(name, "is neither a file nor a folder")
    else:
        yield Fault(name, "no such file or folder")
