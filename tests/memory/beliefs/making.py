"""Learned records, merges, and a look at what is live."""

import uuid

from memory.access import Principal
from memory.beliefs import revisions
from memory.beliefs.merging import Merged
from memory.drafts import Draft
from memory.models import Memory, MemoryRevision
from tests.memory.making import ADMIN, put

RUN = uuid.UUID(int=7)


def fact(content: str, principal: Principal = ADMIN, **fields) -> Memory:
    """Write a fact; to `agent_notes` unless a scope is given."""
    return put(principal, content, kind="fact", **fields).memory


def mine(content: str, owner: Principal, **fields) -> Memory:
    return fact(content, owner, scope="personal", **fields)


def retire(old: Memory, new: Memory | None, via: str = "rule", **fields) -> MemoryRevision:
    fields = {"reason": "another value", "actor": via, **fields}
    return revisions.retire(fresh(old), new and fresh(new), via=via, **fields)


def merge(*sources: Memory, text: str = "both", principal: Principal = ADMIN, **fields) -> Merged:
    draft = Draft(text, scope=sources[0].scope, kind=sources[0].kind)
    fields = {"via": "consolidation", "reason": "they say the same", "run_id": RUN, **fields}
    return revisions.merge(principal, [fresh(source) for source in sources], draft, **fields)


def undo(record: Memory, principal: Principal = ADMIN, reason: str = "") -> revisions.Undone:
    return revisions.undo_record(principal, record.pk, reason)


def fresh(record: Memory) -> Memory:
    return Memory.objects.get(pk=record.pk)


def live() -> set[str]:
    """Return the texts of the live records."""
    return set(Memory.objects.exclude(live_key=None).values_list("content", flat=True))


def retired() -> set[str]:
    return set(Memory.objects.filter(tags__tag="superseded").values_list("content", flat=True))
