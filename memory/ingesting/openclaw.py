"""Reads the memory of OpenClaw-style agents: `MEMORY.md`, and day files and topics in `memory/`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memory.ingesting.files import guarded, read_text
from memory.ingesting.items import CONTENT_LIMIT, Fault, Item
from memory.ingesting.times import instant, readable

KIND = "openclaw"
CURATED = ("MEMORY.md", "Memory.md", "memory.md")
#: Files of the agent itself: they belong into its workspace, not among the records.
OTHERS = ("SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+")


def is_workspace(folder: Path) -> bool:
    """Tell whether the folder is such an agent's."""
    return (folder / "memory").is_dir() or any((folder / name).is_file() for name in CURATED)


def read_workspace(folder: Path) -> Iterator[Item | Fault]:
    """The entries of the curated file, then the sections of every file below `memory/`.

    An entry is known by its text and a section by its file and place, so that reading again changes
    nothing.
    """
    curated = next((name for name in CURATED if (folder / name).is_file()), None)
    if curated is not None:
        yield from guarded(curated, _curated(folder / curated))
    for path in sorted((folder / "memory").rglob("*.md")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file():
            yield Fault(name, "is a link or no plain file", skipped=True)
        else:
            yield from guarded(name, _notes(path, name))
    for name in OTHERS:
        if (folder / name).exists():
            yield Fault(name, "belongs into the agent's workspace, not here", skipped=True)


def _curated(path: Path) -> Iterator[Item]:
    said = _changed(path)
    for heading, text in entries(read_text(path)):
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        known = {"heading": heading} if heading else {}
        yield Item(text, KIND, f"MEMORY.md#{digest}", 0, occurred_at=said, metadata=known)


def _notes(path: Path, name: str) -> Iterator[Item]:
    found = _DAY.search(path.stem)
    day = instant(found.group()) if found else None
    prefix = readable(found.group()) if found and day else ""
    for position, (heading, text) in enumerate(sections(read_text(path))):
        item = Item(text, KIND, name, position, index_prefix=prefix, occurred_at=day)
        known = {"heading": heading} if heading else {}
        yield replace(item, metadata=known, occurred_at=day or _changed(path))


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def sections(text: str) -> list[tuple[str, str]]:
    """Cut a text before every heading of the first two levels; each part with its heading."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if not fenced and re.match(r"##?\s", line):
            parts.append((_heading(line), []))
        parts[-1][1].append(line)
    whole = ((heading, "\n".join(lines).strip()) for heading, lines in parts)
    return [(heading, part) for heading, part in whole if _says_something(part)]


def entries(text: str) -> list[tuple[str, str]]:
    """Cut a text into its points and paragraphs, each with the headings above it."""
    found: list[tuple[str, list[str]]] = []
    headings: list[str] = []
    fresh, fenced = True, False
    for line in text.splitlines():
        inside, fenced = fenced, fenced ^ line.lstrip().startswith("```")
        here = found and found[-1][0] == " > ".join(headings)
        if found and (inside or (fenced and here)):
            found[-1][1].append(line)
        elif heading := _HEADING.match(line):
            level = len(line) - len(line.lstrip("#"))
            headings = [*headings[: level - 1], heading.group(1)]
            fresh = True
        elif not line.strip():
            fresh = True
        elif (fresh and not line[:1].isspace()) or _BULLET.match(line):
            found.append((" > ".join(headings), [line]))
            fresh = False
        elif found:
            found[-1][1].append(line)
            fresh = False
    return [(heading, _plain("\n".join(lines))[:CONTENT_LIMIT]) for heading, lines in found]


def _plain(entry: str) -> str:
    return _BULLET.sub("", entry, count=1).strip()


def _heading(line: str) -> str:
    found = _HEADING.match(line)
    return found.group(1) if found else ""


def _says_something(part: str) -> bool:
    return any(line.strip() and not _HEADING.match(line) for line in part.splitlines())
