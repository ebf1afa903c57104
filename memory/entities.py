"""Entities of the graph that nothing mentions any more."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from memory.chunks import batches
from memory.models import MemoryEntity, MemoryRelation


def mentioned_by(memory_ids: Sequence[uuid.UUID]) -> set[int]:
    """Return the entities that relations of these records name."""
    found: set[int] = set()
    for batch in batches(memory_ids):
        rows = MemoryRelation.objects.filter(memory_id__in=batch)
        for ends in rows.values_list("source_id", "target_id"):
            found.update(ends)
    return found


def drop_unmentioned(entity_ids: Iterable[int]) -> int:
    """Delete those of the entities that no relation names; return how many."""
    gone = 0
    for batch in batches(sorted(entity_ids)):
        _, counts = unmentioned().filter(pk__in=batch).delete()
        gone += counts.get("memory.MemoryEntity", 0)
    return gone


def unmentioned() -> QuerySet[MemoryEntity]:
    """Return the entities that no relation names."""
    outgoing = MemoryRelation.objects.filter(source=OuterRef("pk"))
    incoming = MemoryRelation.objects.filter(target=OuterRef("pk"))
    return MemoryEntity.objects.filter(~Exists(outgoing), ~Exists(incoming))
