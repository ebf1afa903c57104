"""Which stored texts share an outline: the only ones that may say the same thing.

Outlines of records stand in a table of their own, those of chunks beside their text. Both are made
when somebody looks for what lacks one, and are as good as the text whose hash stands beside them.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from memory.chunks import HIDDEN, HISTORY
from memory.duplicates.reading import VERSION, stored_outline
from memory.models import Memory, MemoryChunk, MemoryOutline
from memory.vocabulary import AGENT_NOTES

_CURRENT = f"{VERSION}:"
_AT_ONCE = 500


def lacking_records() -> QuerySet[Memory]:
    """Return the live agent notes whose outline is yet to be made."""
    made = MemoryOutline.objects.filter(
        memory=OuterRef("pk"),
        content_hash=OuterRef("content_hash"),
        outline__startswith=_CURRENT,
    )
    return Memory.objects.filter(~Exists(made), scope=AGENT_NOTES, live_key__isnull=False)


def outline_records(after: str | None) -> tuple[int, str | None]:
    """Make the outlines that lack on the next page of records; return how many, and its end.

    The end is None once there are no more records.
    """
    every = Memory.objects.order_by("pk")
    if after is not None:
        every = every.filter(pk__gt=uuid.UUID(after))
    page = list(every.values_list("pk", flat=True)[:_AT_ONCE])
    with transaction.atomic():
        lacking = lacking_records().filter(pk__in=page).select_for_update(of=("self",))
        batch = list(lacking.only("pk", "content", "content_hash"))
        MemoryOutline.objects.bulk_create(
            [
                MemoryOutline(
                    memory=record,
                    content_hash=record.content_hash,
                    outline=stored_outline(record.content),
                )
                for record in batch
            ],
            update_conflicts=True,
            unique_fields=["memory"],
            update_fields=["content_hash", "outline"],
        )
    return len(batch), str(page[-1]) if page else None


def lacking_chunks() -> QuerySet[MemoryChunk]:
    """Return the chunks whose outline is of older rules, or was never made."""
    return MemoryChunk.objects.filter(Q(outline__isnull=True) | ~Q(outline__startswith=_CURRENT))


def outline_chunks(after: int | None) -> tuple[int, int | None]:
    """Make the next few outlines of chunks; return how many, and where to go on."""
    rows = lacking_chunks().filter(pk__gt=after or 0).order_by("pk")
    batch = list(rows.only("pk", "text")[:_AT_ONCE])
    for chunk in batch:
        chunk.outline = stored_outline(chunk.text)
    MemoryChunk.objects.bulk_update(batch, ["outline"], batch_size=200)
    return len(batch), batch[-1].pk if batch else None


def shared_by_records(after: str, limit: int) -> list[str]:
    """Return the next outlines, in order, that several live notes have."""
    return _shared(MemoryOutline.objects.filter(memory__live_key__isnull=False), after, limit)


def shared_by_chunks(after: str, limit: int) -> list[str]:
    """Return the next outlines, in order, that several chunks in search have."""
    live = MemoryChunk.objects.exclude(access=HIDDEN).exclude(access__startswith=HISTORY)
    return _shared(live, after, limit)


def count_shared_by_records() -> int:
    """Count the outlines that several live notes have."""
    rows = MemoryOutline.objects.filter(memory__live_key__isnull=False)
    return rows.order_by().values("outline").annotate(n=Count("pk")).filter(n__gt=1).count()


def count_shared_by_chunks() -> int:
    """Count the outlines that several chunks have."""
    rows = MemoryChunk.objects.order_by().values("outline").annotate(n=Count("pk"))
    return rows.filter(n__gt=1).count()


def _shared(rows: QuerySet[Any], after: str, limit: int) -> list[str]:
    counted = (
        rows.filter(outline__gt=after)
        .order_by("outline")
        .values_list("outline")
        .annotate(members=Count("pk"))
    )
    return [outline for outline, _ in counted.filter(members__gt=1)[:limit]]
