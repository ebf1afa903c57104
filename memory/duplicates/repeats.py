"""Chunks that repeat another chunk of their own scope and owner: search leaves them out.

The chunk that is kept speaks for them. Where it goes away, `memory.chunks` lets them be found
again in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from memory import chunks
from memory.chunks import HIDDEN, HISTORY, REPEAT
from memory.duplicates.candidates import Pair, Text, pairs
from memory.duplicates.usage import usage_in
from memory.models import Memory, MemoryChunk, MemoryTag
from memory.vocabulary import CRITICAL, UNVERIFIED

_COLUMNS = (
    "pk", "key", "text", "access", "duplicate_of", "memory_id", "memory__updated_at",
)  # fmt: skip


def found(outlines: Sequence[str], least: float) -> Iterator[Pair[int]]:
    """Yield the chunks of these outlines that repeat one of their own scope and owner.

    Of two the one that speaks for others already is kept, else that of the newer record.
    """
    rows = _taking_part(outlines)
    speaking = set(rows.values_list("duplicate_of", flat=True)) - {""}
    held = sorted(
        rows.values_list(*_COLUMNS),
        key=lambda row: (row[1] in speaking, not row[4], row[6], row[0]),
        reverse=True,
    )
    realms: dict[str, list[Text[int]]] = {}
    marked = {row[0] for row in held if row[4]}
    for pk, _, text, access, *_ in held:
        base = access.removeprefix(REPEAT)
        realms.setdefault(base, []).append(Text(pk, base, text))
    for base, texts in realms.items():
        if len(texts) > 1:
            repeated = pairs(texts, least, usage_in(base))
            yield from (pair for pair in repeated if not marked & {pair.kept, pair.repeat})


def mark(pair: Pair[int]) -> bool:
    """Mark the repeat, if both chunks are still what was compared; return whether it was done."""
    with transaction.atomic():
        ids = (pair.kept, pair.repeat)
        holders = MemoryChunk.objects.filter(pk__in=ids).values("memory")
        list(Memory.objects.select_for_update(of=("self",)).filter(pk__in=holders).order_by("pk"))
        rows = {row.pk: row for row in _searchable().filter(pk__in=ids, duplicate_of="")}
        if len(rows) < 2 or rows[pair.kept].access != rows[pair.repeat].access:
            return False
        chunks.mark_repeat(rows[pair.repeat], rows[pair.kept])
    return True


def unspoken_for() -> QuerySet[MemoryChunk]:
    """Return the chunks left out of search whose kept chunk is not there to be found."""
    kept = MemoryChunk.objects.filter(key=OuterRef("duplicate_of"), duplicate_of="")
    spoken = kept.annotate(marked=Concat(Value(REPEAT), "access"))
    there = Exists(spoken.filter(marked=OuterRef("access")))
    return MemoryChunk.objects.filter(access__startswith=REPEAT).exclude(there).order_by("pk")


def release_unspoken() -> int:
    """Let such chunks be found again; return how many."""
    keys = set(unspoken_for().values_list("duplicate_of", flat=True))
    with transaction.atomic():
        chunks.release(keys)
    return len(keys)


def _searchable() -> QuerySet[MemoryChunk]:
    return MemoryChunk.objects.exclude(access=HIDDEN).exclude(access__startswith=HISTORY)


def _taking_part(outlines: Sequence[str]) -> QuerySet[MemoryChunk]:
    """Chunks in search, but those of records that end, or that have a standing of their own."""
    apart = MemoryTag.objects.filter(memory=OuterRef("memory_id"), tag__in=(CRITICAL, UNVERIFIED))
    lasting = Q(memory__expires_at__isnull=True) & ~Exists(apart)
    return _searchable().filter(lasting, outline__in=outlines)
