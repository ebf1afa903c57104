"""The rule step: what a newly stated fact retires, in the transaction of its write."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from memory import queue
from memory.access import Principal
from memory.beliefs import resembling, rules, vetoes
from memory.beliefs.retiring import retire
from memory.beliefs.rules import Claim
from memory.models import EngineState, Memory, MemoryBelief, MemorySubject
from memory.providers import chat
from memory.vocabulary import AGENT_NOTES, CRITICAL, LEARNED_KINDS, PERSONAL, UNVERIFIED

#: Where learned records are revised: among the agents' notes, and among one person's own.
SCOPES = (AGENT_NOTES, PERSONAL)
#: Older records on one subject that are looked at; more say nothing that a rule could weigh.
CANDIDATES = 100
#: The row that writers of statements queue up at on databases that let several write at once:
#: otherwise two of them, each blind to the other, would leave two values for one subject.
LOCK = "rule_lock"


def learned(memory: Memory) -> bool:
    """Whether beliefs are revised by this record, and it by others."""
    return memory.scope in SCOPES and memory.kind in LEARNED_KINDS


def settle(principal: Principal, memory: Memory, *, fresh: bool = False) -> tuple[uuid.UUID, ...]:
    """Retire what the record's text now contradicts; return the ids. Call inside the transaction.

    `fresh`: it was created just now, so that nothing is known of it yet.
    """
    said = index(memory, fresh=fresh)
    if not learned(memory) or memory.live_key is None or UNVERIFIED in memory.tag_names:
        return ()
    _have_judged(memory)
    if not said:
        return ()
    take_turns()
    run = uuid.uuid4()
    gone = []
    for old, rule in _contradicted(memory, said):
        reason = f"rule '{rule}': {REASONS[rule]}"
        retire(old, memory, via="rule", reason=reason, actor=principal.actor, run_id=run)
        gone.append(old.pk)
    return tuple(gone)


def take_turns() -> None:
    """Wait for others who apply rules at this moment. Call inside a transaction."""
    EngineState.objects.select_for_update().get_or_create(key=LOCK, defaults={"value": True})


REASONS = {rule.name: rule.says for rule in rules.RULES}


def index(memory: Memory, *, fresh: bool = False) -> tuple[Claim, ...]:
    """Write down what the record speaks of, and that it was stated now, in the place of before."""
    if not fresh:
        MemoryBelief.objects.filter(memory=memory).delete()
    if learned(memory):
        MemoryBelief.objects.create(memory=memory)
    return index_subjects(memory, fresh=fresh)


def index_subjects(memory: Memory, *, fresh: bool = False) -> tuple[Claim, ...]:
    """Write down what the record speaks of, in the place of what was written before."""
    said = rules.claims(memory.content) if learned(memory) else ()
    if not fresh:
        memory.subjects.all().delete()
    MemorySubject.objects.bulk_create(
        [MemorySubject(memory=memory, access=memory.access, key=claim.key) for claim in said]
    )
    return said


def _have_judged(memory: Memory) -> None:
    """Let the judge look at the record, where there is one: later, in a worker."""
    if chat.background() is not None:
        MemoryBelief.objects.filter(memory=memory).update(waiting=True)
        queue.wake_judge()


def contradicted(memory: Memory) -> list[tuple[Memory, str]]:
    """Return the other records that this one's text retires, each with the name of the rule."""
    said = rules.claims(memory.content) if learned(memory) else ()
    return _contradicted(memory, said) if said else []


def ruled(memory: Memory) -> list[tuple[Memory, str]]:
    """Return those of them that were stated before this one."""
    place = resembling.place(memory)
    return [pair for pair in contradicted(memory) if resembling.place(pair[0]) < place]


def _contradicted(memory: Memory, said: Sequence[Claim]) -> list[tuple[Memory, str]]:
    about = MemorySubject.objects.filter(access=memory.access, key__in=[c.key for c in said])
    ids = about.exclude(memory=memory).order_by("-pk").values_list("memory_id", flat=True)
    older = Memory.objects.filter(
        pk__in=list(ids[:CANDIDATES]), live_key__isnull=False, kind__in=LEARNED_KINDS
    )
    found = []
    for old in older.prefetch_related("tags"):
        if not {CRITICAL, UNVERIFIED} & set(old.tag_names) and _comparable(old, memory):
            was = rules.claims(old.content)
            rule = rules.contradiction(was, said)
            if rule and _same_speaker(old, memory, (*was, *said)):
                found.append((old, rule))
    return _without_vetoed(memory, found)


def _without_vetoed(
    memory: Memory, found: Sequence[tuple[Memory, str]]
) -> list[tuple[Memory, str]]:
    if not found:
        return []
    hashes = [memory.content_hash, *(old.content_hash for old, _ in found)]
    apart = vetoes.vetoed_pairs(memory.access, hashes)
    return [
        (old, rule)
        for old, rule in found
        if vetoes.pair(old.content_hash, memory.content_hash) not in apart
    ]


def _comparable(old: Memory, new: Memory) -> bool:
    """Whether both speak of one field of knowledge, and the new one not of an earlier time.

    Order is that of writing, whatever the clock says; only what was said at another time than it
    was written, as in an imported history, is compared by that.
    """
    if old.domain and new.domain and old.domain != new.domain:
        return False
    return new.occurred_at is None or new.occurred_at >= _said_at(old)


def _said_at(memory: Memory) -> datetime:
    return memory.occurred_at or memory.created_at


def _same_speaker(old: Memory, new: Memory, said: Sequence[Claim]) -> bool:
    """Whether "my editor" is one person's in both; in shared notes several people speak."""
    if new.scope == PERSONAL or not any(claim.own for claim in said):
        return True
    return _author(old) == _author(new)


def _author(memory: Memory) -> object:
    return memory.metadata.get("provenance", {}).get("author")
