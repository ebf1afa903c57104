"""The neighbourhood of a chunk: itself with up to two neighbours on each side.

Neighbours are the chunks before and after in the same record and, past its ends, those of the live
records next to it in the same source, of the same scope and owner. A gap stays a gap. Windows are
made anew on every change around them, so that deleted, retired or foreign text never ranks.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q

from memory.chunks import HIDDEN, HISTORY, batches
from memory.models import MemoryChunk, MemorySource

#: How far a neighbourhood reaches on each side (docs/engine.md, "Neighbourhood").
REACH = 2
_STEPS = tuple(step for step in range(-REACH, REACH + 1) if step)

_Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class _Place:
    memory: uuid.UUID
    access: str
    kind: str
    source_id: str
    position: int

    def at(self, step: int) -> _Key:
        """Return the key of the place some steps away."""
        return (self.access, self.kind, self.source_id, self.position + step)

    @property
    def source(self) -> str:
        """A short name of the source, the same for all its places."""
        text = f"{self.access}\0{self.kind}\0{self.source_id}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass
class _Chunk:
    """A row, as far as windows need it."""

    pk: int
    memory: uuid.UUID
    access: str
    text: str
    window: str
    near: list[int | None]
    source: str

    @property
    def live(self) -> bool:
        """Whether it may stand in a neighbour's window."""
        return self.access != HIDDEN and not self.access.startswith(HISTORY)


def around(memory_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Return the records whose windows reach into these, themselves included."""
    wanted = set(memory_ids)
    return wanted | {place.memory for place in _placed_near(_places_of(wanted))}


def refresh(memory_ids: Iterable[uuid.UUID]) -> None:
    """Make the windows of these records anew. Call inside the transaction of the change."""
    for batch in batches(sorted(set(memory_ids)), 200):
        _refresh(set(batch))


def _refresh(wanted: set[uuid.UUID]) -> None:
    first: dict[uuid.UUID, _Place] = {}
    for place in _places_of(wanted):
        first.setdefault(place.memory, place)
    near = _placed_near(list(first.values()))
    owner = {place.at(0): place.memory for place in near}
    chunks = _chunks_of(wanted | set(owner.values()))
    changed: list[_Chunk] = []
    for memory in wanted:
        changed += _rewindowed(memory, first.get(memory), owner, chunks)
    _store(changed)


def _rewindowed(
    memory: uuid.UUID,
    place: _Place | None,
    owner: dict[_Key, uuid.UUID],
    chunks: dict[uuid.UUID, list[_Chunk]],
) -> list[_Chunk]:
    """Set the windows of one record's chunks; return those that changed."""
    own = chunks.get(memory, [])
    left = _beside(memory, place, (-1, -2), owner, chunks)
    right = _beside(memory, place, (1, 2), owner, chunks)
    line: list[_Chunk | None] = [*reversed(left), *own, *right]
    source = place.source if place else memory.hex if len(own) > 1 else ""
    spots = range(len(left), len(left) + len(own))
    return [line[at] for at in spots if _set_window(line, at, source)]  # type: ignore[misc]


def _beside(
    memory: uuid.UUID,
    place: _Place | None,
    steps: Sequence[int],
    owner: dict[_Key, uuid.UUID],
    chunks: dict[uuid.UUID, list[_Chunk]],
) -> list[_Chunk | None]:
    """Return the two chunks on one side of a record, the nearer first; None for a gap."""
    found: list[_Chunk | None] = []
    for step in steps:
        other = owner.get(place.at(step)) if place else None
        rows = chunks.get(other, []) if other and other != memory else []
        ordered = [row for row in (rows[::-1] if step < 0 else rows) if row.live]
        found += ordered[:REACH] or [None]
    return (found + [None] * REACH)[:REACH]


def _set_window(line: Sequence[_Chunk | None], at: int, source: str) -> bool:
    """Set the window of the chunk at one place of the line; return whether it changed."""
    chunk = line[at]
    assert chunk is not None
    near = [line[at + step] if 0 <= at + step < len(line) else None for step in _STEPS]
    texts = [row.text for row in (*near[:REACH], chunk, *near[REACH:]) if row is not None]
    window = " ".join(texts) if any(near) else ""
    ids = [row.pk if row else None for row in near]
    if (chunk.window, chunk.near, chunk.source) == (window, ids, source):
        return False
    chunk.window, chunk.near, chunk.source = window, ids, source
    return True


def _store(changed: Sequence[_Chunk]) -> None:
    rows = [(chunk.window, json.dumps(chunk.near), chunk.source, chunk.pk) for chunk in changed]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE memory_chunks SET window_text = %s, near = %s, source = %s WHERE id = %s", rows
        )


def _chunks_of(memory_ids: set[uuid.UUID]) -> dict[uuid.UUID, list[_Chunk]]:
    """Return each record's chunks in order."""
    found: dict[uuid.UUID, list[_Chunk]] = {}
    columns = ("pk", "memory_id", "access", "search_text", "window_text", "near", "source")
    for batch in batches(sorted(memory_ids)):
        rows = MemoryChunk.objects.filter(memory_id__in=batch).order_by("memory_id", "position")
        for row in rows.values_list(*columns):
            found.setdefault(row[1], []).append(_Chunk(*row))
    return found


def _places_of(memory_ids: set[uuid.UUID]) -> list[_Place]:
    """Return the places of the records, each record's first place first."""
    rows: list[_Place] = []
    for batch in batches(sorted(memory_ids)):
        found = MemorySource.objects.filter(memory_id__in=batch)
        ordered = found.order_by("kind", "source_id", "position")
        rows += [_Place(*row) for row in ordered.values_list(*_COLUMNS)]
    return rows


def _placed_near(places: Sequence[_Place]) -> list[_Place]:
    """Return what stands within reach of the places, in the same source, scope and owner."""
    wanted: dict[tuple[str, str, str], set[int]] = {}
    for place in places:
        key = (place.access, place.kind, place.source_id)
        wanted.setdefault(key, set()).update(place.position + step for step in _STEPS)
    rows: list[_Place] = []
    for (access, kind, source_id), positions in wanted.items():
        for batch in batches(sorted(positions)):
            same = Q(access=access, kind=kind, source_id=source_id, position__in=batch)
            rows += [_Place(*r) for r in MemorySource.objects.filter(same).values_list(*_COLUMNS)]
    return rows


_COLUMNS = ("memory_id", "access", "kind", "source_id", "position")
