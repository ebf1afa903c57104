"""Retired records come back: live, in search at once, in the windows of their neighbours."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from goclaw_site.errors import Conflict
from memory import chunks, queue, windows
from memory.history import content_hash, decide, live_key
from memory.models import Memory, MemoryChunk, MemoryRevision, MemoryTag
from memory.vocabulary import (
    CRITICAL,
    ENGINE_METADATA_PREFIX,
    ENGINE_TAGS,
    PENDING,
    RETIRED,
    SUPERSEDED,
)

_SAME_TEXT = "the same text is live in another record"


@dataclass(frozen=True)
class Restored:
    """Records that are live again; those whose text is live elsewhere; those that had expired."""

    live: tuple[uuid.UUID, ...] = ()
    doubles: tuple[tuple[uuid.UUID, uuid.UUID], ...] = ()
    expired: tuple[uuid.UUID, ...] = ()


def bring_back(memories: Sequence[Memory], actor: str) -> Restored:
    """Make superseded records live again. Call inside a transaction, with the rows locked.

    A record whose text has been written anew meanwhile stays retired, in favour of that one, which
    takes its tags: two equal live records would be one too many. Raises Conflict where somebody
    writes the same text at this very moment.
    """
    twins = _live_twins(memories)
    now = timezone.now()
    back, doubles, expired = [], [], []
    for memory in memories:
        key = _key(memory)
        if memory.expires_at is not None and memory.expires_at <= now:
            expired.append(memory)
        elif key in twins:
            doubles.append((memory, twins[key]))
            continue
        else:
            twins[key] = memory
            memory.live_key = key
            back.append(memory)
        memory.metadata = _without_engine_words(memory)
    _store(back, expired)
    for memory, twin in doubles:
        _stay_behind(memory, twin, actor)
    return Restored(
        tuple(memory.pk for memory in back),
        tuple((memory.pk, twin.pk) for memory, twin in doubles),
        tuple(memory.pk for memory in expired),
    )


def lift(memory: Memory, actor: str) -> None:
    """Take the tag off by hand: the record is live again, and no veto is kept.

    Raises Conflict with the id of an equal live record.
    """
    twin = _live_twins([memory]).get(_key(memory))
    if twin is not None:
        raise Conflict("An equal record is live already.", id=str(twin.pk))
    close(
        MemoryRevision.objects.filter(old_id=memory.pk, decision=RETIRED, undone_at=None),
        actor,
        "the tag was removed by hand",
    )
    bring_back([memory], actor)


def close(rows: QuerySet[MemoryRevision], actor: str, reason: str) -> None:
    """Note on these decisions that they no longer stand."""
    rows.update(undone_at=timezone.now(), undone_by=actor[:150], undone_reason=reason)


def _key(memory: Memory) -> str:
    return live_key(memory.scope, memory.owner_id, memory.kind, content_hash(memory.content))


def _live_twins(memories: Sequence[Memory]) -> dict[str, Memory]:
    """Return the live records that say the same, by their keys."""
    found: dict[str, Memory] = {}
    for batch in chunks.batches([_key(memory) for memory in memories]):
        found.update((str(row.live_key), row) for row in Memory.objects.filter(live_key__in=batch))
    return found


def _store(back: Sequence[Memory], expired: Sequence[Memory]) -> None:
    """Write what came back, in a few statements however many there are."""
    changed = [*back, *expired]
    try:
        with transaction.atomic():
            Memory.objects.bulk_update(changed, ["metadata", "live_key"], batch_size=200)
    except IntegrityError:
        raise Conflict("The same text was written at this moment: undo again.") from None
    ids = [memory.pk for memory in changed]
    for batch in chunks.batches(ids):
        MemoryTag.objects.filter(memory_id__in=batch, tag=SUPERSEDED).delete()
    chunks.retag_live(back)
    _index_stale(back)
    windows.refresh(windows.around(ids))


def _index_stale(back: Sequence[Memory]) -> None:
    """Have those cut anew whose chunks are hidden although nothing is under way."""
    for batch in chunks.batches([memory.pk for memory in back]):
        hidden = MemoryChunk.objects.filter(memory_id__in=batch, access=chunks.HIDDEN)
        stale = set(hidden.exclude(memory__index_state=PENDING).values_list("memory_id", flat=True))
        if stale:
            Memory.objects.filter(pk__in=stale).update(index_state=PENDING, next_attempt_at=None)
            queue.wake_indexer()


def _stay_behind(memory: Memory, twin: Memory, actor: str) -> None:
    """Leave the record retired in favour of its equal, which keeps what people said of it."""
    held = set(twin.tag_names)
    mine = set(memory.tag_names) - held - {CRITICAL, *ENGINE_TAGS}
    MemoryTag.objects.bulk_create([MemoryTag(memory=twin, tag=tag) for tag in sorted(mine)])
    memory.metadata = {
        **memory.metadata,
        "superseded_by": str(twin.pk),
        "superseded_at": timezone.now().isoformat(),
        "superseded_reason": _SAME_TEXT,
    }
    memory.save(update_fields=["metadata"])
    decide(memory, twin, via="undo", decision=RETIRED, actor=actor, reason=_SAME_TEXT)


def _without_engine_words(memory: Memory) -> dict[str, object]:
    return {
        name: value
        for name, value in memory.metadata.items()
        if not name.startswith(ENGINE_METADATA_PREFIX)
    }
