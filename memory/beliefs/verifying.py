"""Records that become verified take part: rules at once, the judge later, as if written so."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence

from goclaw_site.errors import GoclawError
from memory import queue
from memory.beliefs import resembling, settling
from memory.beliefs.retiring import retire
from memory.chunks import batches
from memory.models import Memory, MemoryBelief, MemorySubject
from memory.providers import chat
from memory.vocabulary import LEARNED_KINDS

#: Records whose texts are in memory at once.
_BATCH = 100


def take_part(access: str, ids: Sequence[uuid.UUID], actor: str) -> int:
    """Settle what these records of one token contradict, and what contradicts them.

    In the order of stating, which is not renewed: an old record that is verified today does not
    retire what was said after it, but is retired by that. Returns how many were retired. Call
    inside the transaction that verifies them.
    """
    _have_judged(ids)
    concerned = _disputed(access, ids)
    if not concerned:
        return 0
    settling.take_turns()
    run = uuid.uuid4()
    return sum(_settle(memory, actor, run) for memory in _in_order(concerned))


def _have_judged(ids: Sequence[uuid.UUID]) -> None:
    if chat.background() is None:
        return
    for batch in batches(ids):
        live = MemoryBelief.objects.filter(
            memory__in=batch, memory__kind__in=LEARNED_KINDS, memory__live_key__isnull=False
        )
        live.update(waiting=True)
    queue.wake_judge()


def _disputed(access: str, ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
    """Return the records on those subjects of the given ones that several records speak of."""
    keys: set[str] = set()
    for batch in batches(ids):
        spoken = MemorySubject.objects.filter(access=access, memory__in=batch)
        keys.update(spoken.values_list("key", flat=True))
    holders: dict[str, set[uuid.UUID]] = {}
    for some in batches(sorted(keys)):
        about = MemorySubject.objects.filter(
            access=access, key__in=some, memory__live_key__isnull=False
        )
        for key, memory in about.values_list("key", "memory"):
            holders.setdefault(key, set()).add(memory)
    return set().union(*(held for held in holders.values() if len(held) > 1))


def _in_order(ids: Iterable[uuid.UUID]) -> Iterator[Memory]:
    places: list[resembling.Place] = []
    for batch in batches(sorted(ids)):
        rows = Memory.objects.filter(pk__in=batch).select_related("belief")
        places += [resembling.place(row) for row in rows.only("created_at", "belief__id")]
    ordered = [uuid.UUID(pk) for _, _, pk in sorted(places)]
    for part in batches(ordered, _BATCH):
        held = Memory.objects.filter(pk__in=part).select_related("belief").in_bulk()
        yield from (held[pk] for pk in part)


def _settle(memory: Memory, actor: str, run: uuid.UUID) -> int:
    """Retire what was stated before the record and is contradicted by it."""
    retired = 0
    for old, rule in settling.ruled(memory):
        reason = f"rule '{rule}': {settling.REASONS[rule]}"
        try:
            retire(old, memory, via="rule", reason=reason, actor=actor, run_id=run)
        except GoclawError:
            continue  # retired a moment ago by another, or no longer to be touched
        retired += 1
    return retired
