"""The candidates of a query: chunks that some list brings up, with what ranking needs to know.

Backends give ids, already filtered. Here they are read again through the policy and the filters,
so that nothing stale or foreign goes on. Records whose text stage is still to come are cut on the
spot, so that a writer finds what was written a moment ago.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Right

from goclaw_site.config import get_config
from memory import chunks
from memory.access import Principal, visible, visible_tokens
from memory.filters import Filters, condition
from memory.models import Memory, MemoryChunk, MemoryTag
from memory.search import backends
from memory.search.backends.base import Reach
from memory.search.constants import NEIGHBOUR_SHARES
from memory.search.subjects import subject_terms
from memory.search.types import Candidate, Query
from memory.vectors import FloatMatrix, unit
from memory.vocabulary import CRITICAL, INDEXED, PENDING, UNDECAYED_SCOPES

#: Chunks that the database's own order may bring up before ours decides (several for one record).
TEXT_LIMIT = 80
VECTOR_LIMIT = 60
#: The best of each list whose neighbours join in.
SEEDS = 20
#: Records not yet cut that one query looks through.
PENDING_LIMIT = 200
_CRITICAL = MemoryTag.objects.filter(memory=OuterRef("pk"), tag=CRITICAL)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")


class Row(NamedTuple):
    """One chunk of one visible record, as the database gives it."""

    memory: uuid.UUID
    scope: str
    index_prefix: str
    occurred_at: datetime | None
    updated_at: datetime
    chunk: int
    search_text: str
    window_text: str
    near: list[int | None]
    source: str
    last: str
    critical: bool


_COLUMNS = (
    "pk",
    "scope",
    "index_prefix",
    "occurred_at",
    "updated_at",
    "chunks__pk",
    "chunks__search_text",
    "chunks__window_text",
    "chunks__near",
    "chunks__source",
    "last",
    "critical",
)


def reach_of(principal: Principal, filters: Filters) -> Reach:
    """Return what a search may touch: the caller's tokens, those of the history where asked."""
    plain = tokens = visible_tokens(principal, filters.scopes)
    if filters.reaches_back:
        tokens |= {chunks.HISTORY + token for token in plain}
    if filters.narrowing:
        tokens |= {chunks.REPEAT + token for token in plain}
    return Reach(tokens, filters)


def gather(principal: Principal, query: Query, reach: Reach) -> list[Candidate]:
    """Return every candidate with its similarities; the visible set is part of each question."""
    backend = backends.current()
    # First: a record that a worker cuts meanwhile must be in one of the lists, or in both.
    waiting = _unindexed(principal, reach.filters)
    worded = backend.by_text(query.terms, reach, TEXT_LIMIT)
    similar: list[int] = []
    if query.vector is not None:
        near = backend.by_vector(query.vector, query.model, reach, VECTOR_LIMIT)
        similar = [found.chunk for found in near]
    ids = {*worded, *similar}
    rows = _rows(principal, ids, reach)
    seeds = {*worded[:SEEDS], *similar[:SEEDS]}
    rows += _rows(principal, _neighbours_of(rows, seeds, reach) - ids, reach)
    return [*_measured(rows, query, reach), *waiting]


def _rows(principal: Principal, ids: Iterable[int], reach: Reach) -> list[Row]:
    wanted = visible(principal) & condition(reach.filters)
    tokens = sorted(reach.tokens)
    rows: list[Row] = []
    for batch in chunks.batches(sorted(ids)):
        found = Memory.objects.filter(wanted, chunks__pk__in=batch, chunks__access__in=tokens)
        known = found.order_by().annotate(last=Right("chunks__text", 1), critical=Exists(_CRITICAL))
        rows += [Row(*row) for row in known.values_list(*_COLUMNS)]
    return rows


def _neighbours_of(rows: Sequence[Row], seeds: set[int], reach: Reach) -> set[int]:
    """Return what stands beside the best rows: a weak turn beside a strong one may be meant.

    A neighbourhood that answers holds a record that some list brought up near its top, so its
    members are the best of the neighbourhood's lists too. With filters that the index does not know
    a neighbour may not match, so none is added.
    """
    if reach.filters.narrowing:
        return set()
    return {pk for row in rows if row.chunk in seeds for pk in row.near if pk is not None}


def _measured(rows: Sequence[Row], query: Query, reach: Reach) -> list[Candidate]:
    similar = _similarities(rows, query, reach)
    return [
        Candidate(
            chunk=row.chunk,
            memory=row.memory,
            lasting=row.critical or row.scope in UNDECAYED_SCOPES,
            said_at=row.occurred_at or row.updated_at,
            source=row.source,
            subject=subject_terms(row.index_prefix),
            terms=tuple(row.search_text.split()),
            window_terms=tuple((row.window_text or row.search_text).split()),
            asks=row.last in _QUESTION_MARKS,
            similarity=similar.get(row.chunk, (None, None))[0],
            window_similarity=similar.get(row.chunk, (None, None))[1],
        )
        for row in rows
    ]


def _similarities(
    rows: Sequence[Row], query: Query, reach: Reach
) -> dict[int, tuple[float, float]]:
    """Return each chunk's cosine and that of the weighted mean of its neighbourhood."""
    if query.vector is None or not rows:
        return {}
    wanted = {pk for row in rows for pk in (row.chunk, *row.near) if pk is not None}
    repeated = {chunks.REPEAT + token for token in reach.tokens}
    wider = replace(reach, tokens=reach.tokens | repeated)  # neighbours that others speak for
    held, vectors = backends.current().vectors(query.model, wider, sorted(wanted))
    if not held or vectors.shape[1] != len(query.vector):
        return {}
    place = {chunk: index for index, chunk in enumerate(held)}
    known = [row for row in rows if row.chunk in place]
    own = vectors[[place[row.chunk] for row in known]]
    around = unit(own + _neighbourhoods(known, place, vectors))
    pairs = zip(own @ query.vector, around @ query.vector, strict=True)
    return {row.chunk: (float(a), float(b)) for row, (a, b) in zip(known, pairs, strict=True)}


def _neighbourhoods(
    rows: Sequence[Row], place: dict[int, int], vectors: FloatMatrix
) -> FloatMatrix:
    """Return the weighted sum of each row's neighbours' vectors; a gap adds nothing."""
    nobody = len(vectors)
    padded = np.vstack([vectors, np.zeros((1, vectors.shape[1]), np.float32)])
    total: FloatMatrix = np.zeros((len(rows), vectors.shape[1]), np.float32)
    for slot, share in enumerate(NEIGHBOUR_SHARES):
        beside = [row.near[slot] if row.near else None for row in rows]
        total += share * padded[[place.get(pk, nobody) if pk else nobody for pk in beside]]
    return total


def _unindexed(principal: Principal, filters: Filters) -> list[Candidate]:
    """Return the newest records that still wait for their text stage, cut here and now."""
    # Said twice: SQLite uses the index of what waits only where its own condition is repeated.
    pending = ~Q(index_state=INDEXED) & Q(index_state=PENDING)
    waiting = Memory.objects.filter(visible(principal) & condition(filters) & pending)
    found: list[Candidate] = []
    for record in waiting.prefetch_related("tags").order_by("-created_at")[:PENDING_LIMIT]:
        pieces = cut_now(_Version(record))
        found += [_pending(record, tuple(p.search_text.split()), p.position) for p in pieces]
    return found


def _pending(record: Memory, terms: tuple[str, ...], position: int) -> Candidate:
    return Candidate(
        chunk=-1 - position,
        memory=record.pk,
        lasting=record.scope in UNDECAYED_SCOPES or CRITICAL in record.tag_names,
        said_at=record.occurred_at or record.updated_at,
        source="",
        subject=subject_terms(record.index_prefix),
        terms=terms,
        window_terms=terms,
    )


def texts(hits: Sequence[Candidate]) -> dict[tuple[uuid.UUID, int], tuple[str, str]]:
    """Return heading and text of the chunks that speak for the results."""
    ids = [hit.chunk for hit in hits if hit.chunk >= 0]
    rows = MemoryChunk.objects.filter(pk__in=ids).values_list("memory_id", "pk", "heading", "text")
    found = {(memory, pk): (heading, text) for memory, pk, heading, text in rows}
    waiting = [hit for hit in hits if hit.chunk < 0]
    for record in Memory.objects.filter(pk__in=[hit.memory for hit in waiting]):
        for piece in cut_now(_Version(record)):
            found[(record.pk, -1 - piece.position)] = (piece.heading, piece.text)
    return found


class _Version:
    """A record as a cache key: its id and version."""

    def __init__(self, record: Memory) -> None:
        self.key = (record.pk, record.version)
        self.record = record

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Version) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=400)
def cut_now(version: _Version) -> list[chunks.Piece]:
    """Return the pieces of a record that no worker has cut yet."""
    size = get_config().memory.chunk
    return chunks.cut(version.record, size.size, size.overlap)
