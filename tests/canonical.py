"""A whole installation as one sorted value: equal dumps, equal installations, on every driver.

`dump()` reads the database in use and the files under a state directory. Rows are by their own
columns, ids and times included, but not columns that are made from others. Jobs, the change log and
the audit trail are left out: looking at an installation or moving it adds to them. Ids of chunks
are the database's own affair; where they are referred to (`near`) their keys stand.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.auth.models import Group, User
from django.db.models import Model

from memory.models import EngineState, MemoryChunk
from memory.snapshots.tables import AUDIT, CARRIED, MADE_ANEW, STATE_LEFT_OUT, model_of
from memory.vectors import pack

FILES = ("workspace", "media")


def dump(state: Path | None = None) -> dict[str, Any]:
    """Return the installation; with a state directory its files too, as hashes of their bytes."""
    tables: dict[str, Any] = {label: rows_of(label) for label in CARRIED if label != AUDIT}
    tables["groups of people"] = sorted(
        [user.username, group] for user in User.objects.all() for group in _names(user)
    )
    tables["permissions"] = permissions()
    if state is not None:
        tables["files"] = files_of(state)
    return tables


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return where two dumps differ, in words short enough to read in a failing test."""
    found = []
    for name in sorted({*one, *other}):
        mine, theirs = (_as_set(dumped.get(name)) for dumped in (one, other))
        found += [f"{name}: only in the first: {row[:300]}" for row in sorted(mine - theirs)[:5]]
        found += [f"{name}: only in the second: {row[:300]}" for row in sorted(theirs - mine)[:5]]
        if mine == theirs and one.get(name) != other.get(name):
            found.append(f"{name}: rows are there more than once")
    return found


def rows_of(label: str) -> list[dict[str, Any]]:
    """Return the rows of a table, by primary key."""
    model = model_of(label)
    rows = model._default_manager.order_by("pk")
    if model is EngineState:
        rows = rows.exclude(key__in=STATE_LEFT_OUT)
    if model is MemoryChunk:
        return _chunks()
    return [_row(row) for row in rows.iterator(2000)]


def permissions() -> list[list[str]]:
    """Return what people and groups may do beside their roles, by name."""
    held = [
        *((user.username, user.user_permissions.all()) for user in User.objects.all()),
        *((f"group {group.name}", group.permissions.all()) for group in Group.objects.all()),
    ]
    return sorted([name, *found.natural_key()] for name, rows in held for found in rows)


def files_of(state: Path) -> dict[str, str]:
    """Return the hash of every file of people and agents, by its path in the state directory."""
    roots = [state / name for name in FILES]
    roots += sorted((state / "agents").glob("*/workspace"))
    return {
        str(file.relative_to(state)): hashlib.sha256(file.read_bytes()).hexdigest()
        for root in roots
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }


def _chunks() -> list[dict[str, Any]]:
    """By key: row ids of chunks are the database's own affair."""
    keys = dict(MemoryChunk.objects.values_list("pk", "key"))
    rows = []
    for chunk in MemoryChunk.objects.order_by("key").iterator(2000):
        row = _row(chunk)
        row.pop("id")
        row["near"] = [None if pk is None else keys.get(pk, "gone") for pk in chunk.near]
        rows.append(row)
    return rows


def _row(row: Model) -> dict[str, Any]:
    made = MADE_ANEW.get(row._meta.label, ())
    names = [field.attname for field in row._meta.fields if field.name not in made]
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, np.ndarray):
        return _vector(value)
    return value


def _vector(vector: Any) -> list[Any]:
    """Its int8 form, which is what every driver holds at least; the scale to five digits."""
    packed = pack(vector)
    scale = float(np.frombuffer(packed[:4], "<f4")[0])
    return [len(vector), f"{scale:.4e}", hashlib.sha256(packed[4:]).hexdigest()]


def _names(user: User) -> list[str]:
    return sorted(user.groups.values_list("name", flat=True))


def _as_set(rows: Any) -> set[str]:
    listed = rows.items() if isinstance(rows, dict) else rows or []
    return {json.dumps(row, sort_keys=True, ensure_ascii=False) for row in listed}
