"""Writes files for the readers and sorts out what they give."""

import json
from pathlib import Path
from typing import Any

from memory.ingesting import Fault, Item, read


def items_of(path: Path) -> list[Item]:
    found = list(read(path))
    assert [each for each in found if isinstance(each, Fault)] == []
    return [each for each in found if isinstance(each, Item)]


def faults_of(path: Path) -> list[tuple[str, str]]:
    return [(each.where, each.reason) for each in read(path) if isinstance(each, Fault)]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_lines(path: Path, *rows: Any) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))
