"""Reads exports of mem0: JSON with `results`, or a bare list, of memories with their owners."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.ingesting.files import read_text
from memory.ingesting.items import Fault, Item, WrongInput, flaw_of
from memory.ingesting.times import instant

KIND = "mem0"
_LISTS = ("results", "memories", "data")
_TEXTS = ("memory", "text", "data", "content")
_KEPT = ("agent_id", "app_id", "run_id", "categories")
_NAME_LIMIT = 150


@dataclass(frozen=True)
class Owned:
    """An item, and whom it belongs to over there; empty where it belongs to nobody."""

    item: Item
    owner: str


def read_export(path: Path) -> Iterator[Owned | Fault]:
    """Every memory of the export; a bad one stops no other. Times are the original ones."""
    name = path.name
    try:
        rows = _rows(read_text(path))
    except OSError as error:
        yield Fault(name, error.strerror or type(error).__name__)
        return
    except WrongInput as wrong:
        yield Fault(name, str(wrong))
        return
    for number, row in enumerate(rows, 1):
        try:
            yield _owned(row)
        except WrongInput as wrong:
            yield Fault(f"{name}:{number}", str(wrong))


def _rows(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise WrongInput(f"is not JSON: {error.msg} in line {error.lineno}") from None
    except (ValueError, RecursionError):
        raise WrongInput("is not JSON") from None
    if isinstance(found, dict):
        found = next((found[name] for name in _LISTS if name in found), None)
    if not isinstance(found, list):
        raise WrongInput("holds no list of memories")
    return found


def _owned(row: Any) -> Owned:
    if not isinstance(row, dict):
        raise WrongInput("is no object")
    content = next((row[name] for name in _TEXTS if isinstance(row.get(name), str)), "")
    if not content.strip():
        raise WrongInput("has no text")
    if flaw := flaw_of(content):
        raise WrongInput(f"holds {flaw}")
    item = Item(
        content,
        KIND,
        _id(row, content),
        0,
        occurred_at=_time(row),
        metadata=_metadata(row),
    )
    return Owned(item, _owner(row))


def _id(row: dict[str, Any], content: str) -> str:
    given = row.get("id")
    if isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip():
        return str(given).strip()[:200]
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _owner(row: dict[str, Any]) -> str:
    given = row.get("user_id")
    if given is None or given == "":
        return ""
    if not isinstance(given, str | int) or len(str(given)) > _NAME_LIMIT or flaw_of(str(given)):
        raise WrongInput("has a user_id that is no name")
    return str(given)


def _time(row: dict[str, Any]) -> Any:
    """When it was last said to be so."""
    for name in ("updated_at", "created_at"):
        if isinstance(row.get(name), str) and (found := instant(row[name])):
            return found
    return None


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    given = row.get("metadata")
    kept = {name: row[name] for name in _KEPT if row.get(name)}
    return {**(given if isinstance(given, dict) else {}), **kept}
