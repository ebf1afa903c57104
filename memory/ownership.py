"""Personal records as a whole: verified, moved to another person, cleared; never shown."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from goclaw_site.errors import NotFound
from memory import audit, chunks, windows, write
from memory.access import (
    Principal,
    access_token,
    administers,
    require_administrator,
    require_change,
    visible,
)
from memory.beliefs import verifying, vetoes
from memory.models import (
    Memory,
    MemoryChange,
    MemoryChunk,
    MemoryRevision,
    MemorySource,
    MemorySubject,
    MemoryTag,
)
from memory.vocabulary import INDEXED, PERSONAL, UNVERIFIED

_BATCH = 200


@dataclass(frozen=True)
class Moved:
    """What a move did: records that changed hands, and equal ones that became one."""

    records: int
    united: int


def count(owner: int) -> int:
    """Return how many personal records there are, replaced and expired ones too."""
    return Memory.objects.filter(scope=PERSONAL, owner_id=owner).count()


def verify(principal: Principal, owner: int) -> int:
    """Lift `unverified` from the person's records, which take part from now on; return how many.

    Call inside a transaction.
    """
    tags = MemoryTag.objects.filter(tag=UNVERIFIED, memory__scope=PERSONAL, memory__owner_id=owner)
    ids = list(tags.values_list("memory_id", flat=True))
    for batch in chunks.batches(ids):
        MemoryTag.objects.filter(tag=UNVERIFIED, memory__in=batch).delete()
    verifying.take_part(access_token(PERSONAL, owner), ids, principal.actor)
    return len(ids)


def move(principal: Principal, source: int, target: int) -> Moved:
    """Give every personal record of one person to another, with all that is made from it.

    Equal live records become one. One transaction: nobody ever sees half of it.
    """
    require_administrator(principal)
    with transaction.atomic():
        united = _unite_equals(principal, source, target)
        ids = list(_of(source).values_list("pk", flat=True))
        for batch in chunks.batches(ids, _BATCH):
            _give(batch, target)
        _retoken(access_token(PERSONAL, source), access_token(PERSONAL, target))
        windows.refresh(windows.around(ids))
        audit.record(
            principal,
            "records.move",
            f"person:{source}",
            into=target,
            count=len(ids),
            united=united,
        )
    return Moved(len(ids), united)


def clear(principal: Principal, owner: int) -> int:
    """Delete every personal record of a person; return how many went."""
    require_administrator(principal)
    gone = 0
    while batch := list(_of(owner)[:_BATCH]):
        with transaction.atomic():
            for memory in batch:
                write.erase([memory], principal.actor)
        gone += len(batch)
    vetoes.drop(access_token(PERSONAL, owner))
    audit.record(principal, "records.clear", f"person:{owner}", count=gone)
    return gone


def forget_by_id(principal: Principal, memory_id: uuid.UUID) -> None:
    """Delete a record by its id; for administrators that may be somebody's personal one.

    Raises NotFound, Refused.
    """
    if Memory.objects.filter(visible(principal), pk=memory_id).exists():
        write.forget(principal, memory_id)
        return
    if not administers(principal):
        raise NotFound("No such record.")
    require_change(principal)
    with transaction.atomic():
        memory = Memory.objects.select_for_update().filter(pk=memory_id).first()
        if memory is None:
            raise NotFound("No such record.")
        audit.record(principal, "forget", audit.of_record(memory_id), scope=memory.scope)
        write.erase([memory], principal.actor)


def _of(owner: int) -> QuerySet[Memory]:
    return Memory.objects.filter(scope=PERSONAL, owner_id=owner).order_by("pk")


def _unite_equals(principal: Principal, source: int, target: int) -> int:
    """Where the target holds the same text, tags and places join it and the other goes."""
    united = 0
    for memory in _of(source).filter(live_key__isnull=False):
        key = write.live_key(PERSONAL, target, memory.kind, memory.content_hash)
        twin = Memory.objects.filter(live_key=key).first()
        if twin is None:
            continue
        _join(memory, twin)
        write.erase([memory], principal.actor)
        united += 1
    return united


def _join(memory: Memory, twin: Memory) -> None:
    held = set(twin.tag_names)
    MemoryTag.objects.filter(memory=memory).exclude(tag__in=held | {UNVERIFIED}).update(memory=twin)
    _move_places(memory, twin.access, twin)
    MemoryRevision.objects.filter(old_id=memory.pk).update(old=twin, access=twin.access)
    MemoryRevision.objects.filter(new_id=memory.pk).update(new=twin)
    twin.updated_at = max(twin.updated_at, memory.updated_at)
    twin.created_at = min(twin.created_at, memory.created_at)
    if memory.expires_at is None or twin.expires_at is None:
        twin.expires_at = None
    else:
        twin.expires_at = max(twin.expires_at, memory.expires_at)
    twin.save(update_fields=["updated_at", "created_at", "expires_at"])


def _give(ids: Sequence[uuid.UUID], target: int) -> None:
    memories = list(Memory.objects.filter(pk__in=ids))
    for memory in memories:
        memory.owner_id = target
        if memory.index_state != INDEXED:
            # An indexer at work on it still knows the old owner: its result must not count.
            memory.version += 1
        if memory.live_key is not None:
            memory.live_key = write.live_key(PERSONAL, target, memory.kind, memory.content_hash)
    Memory.objects.bulk_update(memories, ["owner", "live_key", "version"])
    for memory in memories:
        _move_places(memory, access_token(PERSONAL, target), memory)


def _move_places(memory: Memory, access: str, holder: Memory) -> None:
    """A place that the other person's records hold already stays theirs."""
    for place in MemorySource.objects.filter(memory=memory):
        taken = MemorySource.objects.filter(
            access=access, kind=place.kind, source_id=place.source_id, position=place.position
        )
        if taken.exclude(pk=place.pk).exists():
            place.delete()
            continue
        place.access, place.memory = access, holder
        place.save(update_fields=["access", "memory"])


def _retoken(before: str, after: str) -> None:
    """Chunks, their history, decisions and the processes' matrices follow the owner."""
    for mark in ("", chunks.HISTORY, chunks.REPEAT):
        rows = MemoryChunk.objects.filter(access=mark + before)
        changed = list(rows.exclude(embedding_model="").values_list("pk", flat=True))
        rows.update(access=mark + after)
        chunks.log(changed, MemoryChange.PUT)
    MemoryRevision.objects.filter(access=before).update(access=after)
    MemorySubject.objects.filter(access=before).update(access=after)
    vetoes.move(before, after)
