"""The only writers of records: remember, amend, forget, and retire beside them."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from goclaw_site.errors import GoclawError, NotFound, Refused
from memory import audit, chunks, credentials, entities, queue, windows
from memory.access import Principal, administers, require_change, require_write, visible
from memory.amending import apply, expired, require_critical_right
from memory.beliefs import deleting, settling
from memory.beliefs.retiring import retire
from memory.drafts import Changes, Draft, check_changes, check_draft
from memory.history import bury, content_hash, live_key
from memory.models import Memory, MemoryRevision
from memory.placing import Written, place
from memory.vocabulary import PENDING, PERSONAL

__all__ = [
    "BULK_LIMIT",
    "Written",
    "amend",
    "content_hash",
    "erase",
    "forget",
    "live_key",
    "remember",
    "remember_many",
    "remember_merged",
    "retire",
]

BULK_LIMIT = 500


def remember(principal: Principal, draft: Draft, *, bulk: bool = False) -> Written:
    """Write one record and wake the indexer, in one transaction.

    Content that is there already (same scope, owner, kind, text, live) gives that record back;
    another text from the same source amends the record of that source.

    Raises InvalidInput, TooLarge or Refused; nothing is written then.
    """
    return _write(principal, draft, bulk=bulk, settles=True)


def remember_merged(principal: Principal, draft: Draft) -> Written:
    """Write what several records say, for `memory.beliefs.merging`: it contradicts none of them."""
    return _write(principal, draft, bulk=True, settles=False)


def _write(principal: Principal, draft: Draft, *, bulk: bool, settles: bool) -> Written:
    checked = _admit(principal, draft)
    kinds = credentials.found(checked.content)
    if kinds:
        checked = replace(checked, tags=(*checked.tags, credentials.CREDENTIAL))
    with transaction.atomic():
        written = place(principal, checked, bulk=bulk)
        if settles:
            written = _settled(principal, written)
        elif written.created:
            settling.index(written.memory, fresh=True)
        if written.memory.index_state == PENDING:
            queue.wake_indexer()
        if not bulk:
            subject = audit.of_record(written.memory.pk)
            audit.record(principal, "write", subject, scope=checked.scope, did=written.outcome)
    return replace(written, warnings=(credentials.warning(kinds),)) if kinds else written


def _settled(principal: Principal, written: Written) -> Written:
    """Let what was stated retire what it contradicts; a text that was known already did so."""
    if written.outcome == "existing" and not written.confirmed:
        return written
    superseded = settling.settle(principal, written.memory, fresh=written.created)
    return replace(written, superseded=superseded) if superseded else written


def remember_many(
    principal: Principal, drafts: Sequence[Draft | GoclawError]
) -> list[Written | GoclawError]:
    """Write several records in order; a bad one is its own error and stops no other.

    A draft that could not even be read comes as the error it is. Marked as bulk, so that single
    writes are indexed before them.
    """
    results = [
        draft if isinstance(draft, GoclawError) else _remember_one(principal, draft)
        for draft in drafts
    ]
    counts = Counter(
        "failed" if isinstance(result, GoclawError) else result.outcome for result in results
    )
    audit.record(
        principal, "write.many", created=counts["created"], existing=counts["existing"],
        amended=counts["amended"], failed=counts["failed"],
    )  # fmt: skip
    return results


def _remember_one(principal: Principal, draft: Draft) -> Written | GoclawError:
    try:
        return remember(principal, draft, bulk=True)
    except GoclawError as error:
        return error


def amend(principal: Principal, memory_id: uuid.UUID, changes: Changes) -> Memory:
    """Change a live record and keep its old text in the history.

    Raises NotFound, Refused, InvalidInput, or Conflict with the id of an equal live record.
    """
    checked = check_changes(changes)
    subject = audit.of_record(memory_id)
    with audit.refusals(principal, "amend", subject), transaction.atomic():
        memory = _locked(principal, memory_id)
        if expired(memory):
            raise NotFound("No such record.")
        require_critical_right(principal, checked.tags or (), memory)
        before = (memory.content, memory.kind, memory.live_key is None)
        apply(principal, memory, checked)
        if before != (memory.content, memory.kind, memory.live_key is None):
            settling.settle(principal, memory)
        audit.record(principal, "amend", subject, scope=memory.scope)
    return memory


def forget(principal: Principal, memory_id: uuid.UUID) -> None:
    """Delete a record with everything made from it. There is no way back.

    A person's own personal record leaves nothing; of any other record a tombstone stays that names
    who, when and the hash of the text, not the text.
    """
    subject = audit.of_record(memory_id)
    with audit.refusals(principal, "forget", subject), transaction.atomic():
        memory = _locked(principal, memory_id)
        if memory.scope != PERSONAL and not administers(principal):
            raise Refused("Shared records are deleted by administrators only.")
        audit.record(principal, "forget", subject, scope=memory.scope)
        erase([memory], principal.actor)


def erase(memories: Sequence[Memory], actor: str) -> None:
    """Delete records, their copies, what histories quote of them, and entities of theirs alone.

    A few statements however many there are. Call inside a transaction, with some hundreds at most.
    """
    ids = [memory.pk for memory in memories]
    around = windows.around(ids) - set(ids)
    mentioned = entities.mentioned_by(ids)
    chunks.drop(ids)
    deleting.wipe(ids)
    own = [memory.pk for memory in memories if memory.scope == PERSONAL]
    MemoryRevision.objects.filter(old_id__in=own).delete()
    bury([memory for memory in memories if memory.scope != PERSONAL], actor)
    Memory.objects.filter(pk__in=ids).delete()
    entities.drop_unmentioned(mentioned)
    windows.refresh(around)


def _admit(principal: Principal, draft: Draft) -> Draft:
    checked = check_draft(draft, engine=principal.system)
    with audit.refusals(principal, "write", scope=checked.scope):
        require_write(principal, checked.scope)
        require_critical_right(principal, checked.tags, None)
    return replace(checked, agent=checked.agent or principal.agent)


def _locked(principal: Principal, memory_id: uuid.UUID) -> Memory:
    """Return the record under a row lock, if this caller may see and write it."""
    require_change(principal)
    memory = (
        Memory.objects.select_for_update(of=("self",))
        .filter(visible(principal), pk=memory_id)
        .first()
    )
    if memory is None:
        raise NotFound("No such record.")
    require_write(principal, memory.scope)
    return memory
