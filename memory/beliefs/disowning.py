"""A record turns out to be wrong: it leaves search, and what it had replaced comes back."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db import transaction

from goclaw_site.errors import Conflict
from memory import audit
from memory.access import Principal
from memory.beliefs.retiring import retire
from memory.beliefs.undoing import check_reason, locked, require_right, undo_record
from memory.models import MemoryRevision
from memory.vocabulary import RETIRED

WRONG = "marked as wrong"


@dataclass(frozen=True)
class Disowned:
    """The record that was retired, and those that are live again."""

    record: uuid.UUID
    restored: tuple[uuid.UUID, ...] = ()


def disown(principal: Principal, memory_id: uuid.UUID, reason: str = "") -> Disowned:
    """Retire a record because somebody says that it is wrong; undo what it had replaced.

    An undo of the record brings it back. Raises NotFound, Refused, and Conflict for a record that
    is not live.
    """
    said = check_reason(reason)
    subject = audit.of_record(memory_id)
    with audit.refusals(principal, "disown", subject), transaction.atomic():
        record = locked(principal, memory_id)
        require_right(principal, record.scope)
        if record.live_key is None:
            raise Conflict("This record is retired or has expired already.")
        restored = _restore(principal, memory_id, said or WRONG)
        record.refresh_from_db()
        if record.live_key is not None:
            words = f"{WRONG}: {said}" if said else WRONG
            retire(record, None, via="manual", reason=words, actor=principal.actor)
        audit.record(principal, "disown", subject, scope=record.scope)
    return Disowned(memory_id, restored)


def _restore(principal: Principal, memory_id: uuid.UUID, reason: str) -> tuple[uuid.UUID, ...]:
    """Take back every decision by which the record stands in the place of others."""
    rows = MemoryRevision.objects.filter(new_id=memory_id, decision=RETIRED, undone_at=None)
    restored: list[uuid.UUID] = []
    for old_id in rows.order_by("-pk").values_list("old_id", flat=True):
        if old_id not in restored:
            restored += undo_record(principal, old_id, reason).restored
    return tuple(restored)
