"""`memory check --repair`: what the rules of `memory.checking` find, put right from the records.

The records are the truth; whatever is made from them is made again. What only a person can decide
is left and said.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from memory import audit, checking, chunks, queue, windows
from memory.access import Principal, require_administrator
from memory.beliefs import restoring, settling, vetoes
from memory.duplicates import repeats
from memory.history import decide
from memory.models import (
    Memory,
    MemoryChange,
    MemoryChunk,
    MemoryRevision,
    MemorySource,
    MemoryTag,
    MemoryVeto,
)
from memory.search import backends
from memory.vocabulary import PENDING, RETIRED, SUPERSEDED
from memory.write import content_hash, live_key

_AT_ONCE = 200

_FOUND = "found so by memory check"

#: Puts some rows right, inside a transaction, and returns how many were.
Repair = Callable[[Sequence[Any]], int]


@dataclass(frozen=True)
class Repaired:
    """What became of one finding; `why_left` is empty where nothing is left."""

    name: str
    found: int
    repaired: int
    why_left: str = ""


def repair(principal: Principal) -> list[Repaired]:
    """Put right what can be; return what became of each finding. Back up before.

    Each batch is a transaction of its own, so a server may go on working.
    """
    require_administrator(principal)
    done = [_repair(name, list(rule.rows())) for name, rule in checking.RULES.items()]
    told = [one for one in done if one.found]
    if told:
        queue.wake_indexer()
        audit.record(
            principal, "check.repair", found=sum(one.found for one in told),
            repaired=sum(one.repaired for one in told),
        )  # fmt: skip
    return told


def _repair(name: str, rows: list[Any]) -> Repaired:
    if not rows:
        return Repaired(name, 0, 0)
    act = REPAIRS.get(name)
    if act is None:
        return Repaired(name, len(rows), 0, WHY_NOT.get(name, "no repair is known for this"))
    done = 0
    for batch in chunks.batches(rows, _AT_ONCE):
        with transaction.atomic():
            done += act(batch)
    left = "" if done >= len(rows) else "equal records are there already: delete one of each two"
    return Repaired(name, len(rows), min(done, len(rows)), left)


def _drop_chunks(ids: Sequence[int]) -> int:
    chunks.log(ids, MemoryChange.DROP)
    MemoryChunk.objects.filter(pk__in=ids).delete()
    return len(ids)


def _drop_tags(ids: Sequence[int]) -> int:
    MemoryTag.objects.filter(pk__in=ids).delete()
    return len(ids)


def _index_anew(ids: Iterable[uuid.UUID]) -> int:
    return Memory.objects.filter(pk__in=set(ids)).update(
        version=F("version") + 1, index_state=PENDING, attempts=0, next_attempt_at=None,
        last_error="", bulk=True,
    )  # fmt: skip


def _anew(ids: Sequence[uuid.UUID]) -> int:
    _index_anew(ids)
    return len(ids)


def _records_of(chunk_ids: Sequence[int]) -> set[uuid.UUID]:
    return set(MemoryChunk.objects.filter(pk__in=chunk_ids).values_list("memory_id", flat=True))


def _forget_vectors(ids: Sequence[int]) -> int:
    """A vector that is wrong must not be found again by the hash of its text."""
    rows = MemoryChunk.objects.filter(pk__in=ids)
    rows.update(embedding=None, embedding_model="", embedding_dim=0)
    chunks.log(ids, MemoryChange.DROP)
    _index_anew(_records_of(ids))
    return len(ids)


def _hide_and_index(ids: Sequence[int]) -> int:
    """What is wrong leaves search at once; the indexer makes it again."""
    wanted = _records_of(ids)
    for record in Memory.objects.filter(pk__in=wanted):
        chunks.hide(record)
    windows.refresh(windows.around(wanted))
    _index_anew(wanted)
    return len(ids)


def _rekey(ids: Sequence[uuid.UUID]) -> int:
    return sum(_rekey_one(record) for record in Memory.objects.filter(pk__in=ids))


def _rekey_one(record: Memory) -> bool:
    digest = content_hash(record.content)
    wanted = live_key(record.scope, record.owner_id, record.kind, digest)
    record.content_hash = digest
    record.live_key = wanted if record.live_key is not None else None
    return _saved(record)


def _saved(record: Memory) -> bool:
    try:
        with transaction.atomic():
            record.save(update_fields=["content_hash", "live_key"])
    except IntegrityError:
        return False
    return True


def _agree(ids: Sequence[uuid.UUID]) -> int:
    """A retirement is a decision: where one stands the record is retired, else it is live."""
    standing = MemoryRevision.objects.filter(
        old_id__in=ids, decision=RETIRED, undone_at__isnull=True
    )
    retired = set(standing.values_list("old_id", flat=True))
    return sum(
        _set_life(record, retired=record.pk in retired)
        for record in Memory.objects.filter(pk__in=ids)
    )


def _decide(ids: Sequence[uuid.UUID]) -> int:
    """A retired record without a decision gets one that can be undone; a live one loses its own."""
    for record in Memory.objects.filter(pk__in=ids):
        if record.superseded:
            decide(record, None, via="manual", decision=RETIRED, actor="check", reason=_FOUND)
        else:
            standing = MemoryRevision.objects.filter(old=record, decision=RETIRED, undone_at=None)
            restoring.close(standing, "check", _FOUND)
    return len(ids)


def _set_life(record: Memory, *, retired: bool) -> bool:
    key = live_key(record.scope, record.owner_id, record.kind, record.content_hash)
    record.live_key = None if retired else key
    if not _saved(record):
        # An equal record is live: this one stays behind it.
        retired, record.live_key = True, None
        record.save(update_fields=["live_key"])
    if retired:
        MemoryTag.objects.get_or_create(memory=record, tag=SUPERSEDED)
    else:
        record.tags.filter(tag=SUPERSEDED).delete()
    chunks.retag(record)
    windows.refresh(windows.around([record.pk]))
    return True


def _state_anew(ids: Sequence[uuid.UUID]) -> int:
    """Read the texts again; their place in the order of stating stays."""
    for record in Memory.objects.filter(pk__in=ids):
        settling.index_subjects(record)
    return len(ids)


def _drop_vetoes(ids: Sequence[int]) -> int:
    """The pair is kept again the right way round."""
    for row in MemoryVeto.objects.filter(pk__in=ids):
        vetoes.add(row.access, [(row.low, row.high)])
        row.delete()
    return len(ids)


def _retoken(ids: Sequence[int]) -> int:
    """A place that the record's own scope and owner hold already is not held twice."""
    for row in MemorySource.objects.select_related("memory").filter(pk__in=ids):
        row.access = row.memory.access
        place = {"access": row.access, "kind": row.kind, "source_id": row.source_id}
        if MemorySource.objects.filter(**place, position=row.position).exists():
            row.delete()
        else:
            row.save(update_fields=["access"])
    return len(ids)


def _rewindow(ids: Sequence[int]) -> int:
    windows.refresh(_records_of(ids))
    return len(ids)


def _release(ids: Sequence[int]) -> int:
    repeats.release_unspoken()
    return len(ids)


def _rebuild_keywords(rows: Sequence[Any]) -> int:
    """Fill the keyword index again; chunks without terms stay out."""
    backends.current().rebuild_keywords()
    return len(rows)


REPAIRS: dict[str, Repair] = {
    "orphan_chunks": _drop_chunks,
    "orphan_tags": _drop_tags,
    "unchunked": _anew,
    "missing_vectors": _anew,
    "wrong_dimensions": _forget_vectors,
    "wrong_access": _hide_and_index,
    "wrong_text": _hide_and_index,
    "wrong_keys": _rekey,
    "superseded": _agree,
    "decisions": _decide,
    "subjects": _state_anew,
    "vetoes": _drop_vetoes,
    "foreign_sources": _retoken,
    "foreign_neighbours": _rewindow,
    "repeats": _release,
    "keyword_rows": _rebuild_keywords,
}
WHY_NOT: dict[str, str] = {
    "database": "the file itself is damaged: restore a backup (`goclaw db restore`)",
}
