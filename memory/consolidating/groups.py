"""Learned notes whose vectors lie close: what a model is asked about."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet

from memory import providers
from memory.beliefs import vetoes
from memory.chunks import batches
from memory.duplicates.notes import live_notes
from memory.filters import Filters
from memory.models import Memory, MemoryChunk, MemoryRevision, MemoryTag
from memory.search import backends
from memory.search.backends.base import Reach
from memory.vocabulary import CRITICAL, KEPT, LEARNED_KINDS

#: The cosine from which two notes may say the same; a model decides.
SIMILAR = 0.9
#: Notes in one group at most, the one that was looked at included.
MOST = 5
#: Longer notes are documents, not facts, and stay as they are.
LONGEST = 2_000


def learned() -> QuerySet[Memory]:
    """Return the notes that take part: no critical ones, and none that ends."""
    standing = MemoryTag.objects.filter(memory=OuterRef("pk"), tag=CRITICAL)
    return live_notes(LEARNED_KINDS).filter(~Exists(standing), expires_at__isnull=True)


def around(note: Memory) -> list[Memory]:
    """Return the note and those close to it that nobody has told apart yet; it alone if none."""
    chunk = MemoryChunk.objects.filter(memory=note, access=note.access).first()
    provider = providers.current()
    if chunk is None or provider is None or chunk.embedding_model != provider.model:
        return [note]
    reach = Reach(frozenset({note.access}), Filters())
    near = backends.current().by_vector(chunk.embedding, provider.model, reach, 2 * MOST)
    close = [found.chunk for found in near if found.cosine >= SIMILAR and found.chunk != chunk.pk]
    holders = MemoryChunk.objects.filter(pk__in=close).values("memory")
    others = learned().filter(pk__in=holders, kind=note.kind).exclude(pk=note.pk)
    short = [other for other in others.order_by("-updated_at", "-pk") if _short(other)]
    return _together(note, short) if _short(note) else [note]


def _short(note: Memory) -> bool:
    return len(note.content) <= LONGEST


def _together(note: Memory, others: Sequence[Memory]) -> list[Memory]:
    """Leave out who was told apart from one that is in: by a person's undo, or by a model."""
    hashes = [one.content_hash for one in (note, *others)]
    apart = vetoes.vetoed_pairs(note.access, hashes) | _told_apart(note.access, hashes)
    group = [note]
    for other in others:
        pairs = {vetoes.pair(one.content_hash, other.content_hash) for one in group}
        if not pairs & apart and len(group) < MOST:
            group.append(other)
    return group


def _told_apart(access: str, hashes: Sequence[str]) -> set[vetoes.Pair]:
    found: set[vetoes.Pair] = set()
    for batch in batches(hashes):
        rows = MemoryRevision.objects.filter(
            access=access, via="consolidation", decision=KEPT, final=True, old_hash__in=batch
        )
        found |= {vetoes.pair(old, new) for old, new in rows.values_list("old_hash", "new_hash")}
    return found


def after(cursor: str | None, limit: int) -> list[Memory]:
    """Return the next notes in the order of their ids."""
    rows = learned().order_by("pk")
    if cursor is not None:
        rows = rows.filter(pk__gt=uuid.UUID(cursor))
    return list(rows[:limit])
