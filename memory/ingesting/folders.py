"""Finds the readable files below a folder and says what it leaves out."""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memory.ingesting.files import LINE_SUFFIXES, TEXT_SUFFIXES, guarded, read_file
from memory.ingesting.items import Fault, Item, has_surrogate


def read_folder(path: Path, name: str) -> Iterator[Item | Fault]:
    """The items of all readable files; one that cannot be read stops no other."""
    root = Path(os.path.realpath(path))
    others: Counter[str] = Counter()
    seen: set[str] = set()
    for found in _below(root):
        source_id = _source_id(found, root)
        if _is_other(found):
            others[found.suffix.lower() or "without a suffix"] += 1
        else:
            yield from guarded(source_id, _entry(found, source_id, root, seen))
    yield from _afterword(name, bool(seen), others)


def _below(root: Path) -> Iterator[Path]:
    """What is not hidden, in order: files, links, and folders that cannot be opened."""
    pending = [root]
    while pending:
        path = pending.pop()
        try:
            pending += sorted(_visible(path), reverse=True)
        except OSError:
            yield path


def _visible(path: Path) -> list[Path]:
    if path.is_symlink():
        raise NotADirectoryError  # links are not followed
    return [entry for entry in path.iterdir() if not entry.name.startswith(".")]


def _source_id(path: Path, root: Path) -> str:
    return unicodedata.normalize("NFC", path.relative_to(root).as_posix())


def _is_other(path: Path) -> bool:
    """Whether it is a file of a kind that is not read."""
    known = path.suffix.lower() in TEXT_SUFFIXES | LINE_SUFFIXES
    return not known and not os.path.isdir(path)  # noqa: PTH112 - Path.is_dir may raise


def _entry(path: Path, source_id: str, root: Path, seen: set[str]) -> Iterator[Item | Fault]:
    if fault := _refusal(path, source_id, root):
        yield fault
    elif source_id in seen:
        yield Fault(source_id, "another file has this name in another Unicode form")
    else:
        seen.add(source_id)
        yield from read_file(path, source_id)


def _refusal(path: Path, source_id: str, root: Path) -> Fault | None:
    if has_surrogate(source_id):
        return Fault(source_id.encode("utf-8", "replace").decode(), "its name is not UTF-8")
    if path.is_symlink() and (fault := _link_refusal(path, source_id, root)):
        return fault
    if path.is_dir():
        return Fault(source_id, "the folder cannot be opened")
    if not path.is_file():
        return Fault(source_id, "is not a regular file", skipped=True)
    return None


def _link_refusal(path: Path, source_id: str, root: Path) -> Fault | None:
    if not Path(os.path.realpath(path)).is_relative_to(root):
        return Fault(source_id, "is a link to a place outside the folder", skipped=True)
    if path.is_dir():
        return Fault(source_id, "is a link: its files are read where they are", skipped=True)
    return None if path.exists() else Fault(source_id, "is a broken link")


def _afterword(name: str, any_read: bool, others: Counter[str]) -> Iterator[Fault]:
    """Tell of the files of other kinds in one line, not one by one."""
    if others:
        kinds = ", ".join(f"{count} {suffix}" for suffix, count in sorted(others.items()))
        yield Fault(name, f"files of other kinds were left out: {kinds}", skipped=True)
    if not any_read:
        yield Fault(name, "holds no Markdown, text or JSON lines files")
