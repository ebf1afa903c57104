"""One record takes another's place, or is found not to; the refusals that hold on every route."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.utils import timezone

from goclaw_site.errors import Conflict, NotFound, Refused
from memory import chunks, windows
from memory.beliefs import vetoes
from memory.history import decide
from memory.models import Memory, MemoryRevision, MemoryTag
from memory.vocabulary import CRITICAL, KEPT, RETIRED, SUPERSEDED, UNVERIFIED

#: Routes on which no person decides: what they may not touch is refused here, for all of them.
AUTOMATIC = ("rule", "judge", "consolidation", "revise", "dedupe")


def retire(
    old: Memory,
    new: Memory | None,
    *,
    via: str,
    reason: str,
    actor: str,
    run_id: uuid.UUID | None = None,
    merged: bool = False,
) -> MemoryRevision:
    """Mark `old` as superseded, in one transaction with the decision about it.

    Nothing is deleted: the record leaves search and prompt and can be brought back. What was read
    must still hold: raises NotFound for a record that is gone, Conflict for one that has been
    amended or retired meanwhile, Refused for a pair that may not be (`refusal`).
    """
    with transaction.atomic():
        _lock_unchanged(old, new)
        if reasons := refusal(old, new, via):
            raise Refused(reasons)
        mark(old, str(new.pk) if new else None, reason)
        return decide(
            old, new, via=via, decision=RETIRED, actor=actor, reason=reason, run_id=run_id,
            merged=merged, texts=(old.content, new.content) if merged and new else ("", ""),
        )  # fmt: skip


def keep(
    old: Memory,
    new: Memory,
    *,
    via: str,
    reason: str,
    actor: str = "",
    run_id: uuid.UUID | None = None,
    final: bool = True,
) -> MemoryRevision:
    """Note that both stay. `final=False`: nobody could tell, and it will be asked again."""
    return decide(
        old, new, via=via, decision=KEPT, actor=actor or via, reason=reason, run_id=run_id,
        final=final,
    )  # fmt: skip


def refusal(old: Memory, new: Memory | None, via: str) -> str:
    """Return why `new` may not retire `old` on this route; empty where it may."""
    automatic = via in AUTOMATIC
    if automatic and (words := _left_out(old, new)):
        return words
    if new is None:
        return ""
    if old.pk == new.pk:
        return "A record cannot retire itself."
    if old.access != new.access:
        return "Records of two scopes or two people do not retire each other."
    if automatic and vetoes.vetoed(old.access, old.content_hash, new.content_hash):
        return "Somebody took this back before: these two texts stay side by side."
    return ""


def _left_out(old: Memory, new: Memory | None) -> str:
    sides = [record.pk for record in (old, new) if record is not None]
    tags = MemoryTag.objects.filter(memory_id__in=sides, tag__in=(CRITICAL, UNVERIFIED))
    held = set(tags.values_list("memory_id", "tag"))
    if (old.pk, CRITICAL) in held:
        return "A record tagged 'critical' is retired by people alone."
    if any(tag == UNVERIFIED for _, tag in held):
        return "An unverified record neither retires another nor is retired."
    return ""


def mark(old: Memory, by: str | None, reason: str) -> None:
    """Take the record out of search and prompt. The decision is the caller's to write."""
    old.metadata = {
        **old.metadata,
        "superseded_by": by,
        "superseded_at": timezone.now().isoformat(),
        "superseded_reason": reason,
    }
    old.live_key = None
    old.save(update_fields=["metadata", "live_key"])
    MemoryTag.objects.get_or_create(memory=old, tag=SUPERSEDED)
    chunks.retag(old)
    windows.refresh(windows.around([old.pk]))


def _lock_unchanged(old: Memory, new: Memory | None) -> None:
    """Hold both rows, in the order of their ids, and compare them with what the caller read."""
    wanted = {record.pk: record for record in (old, new) if record is not None}
    rows = Memory.objects.select_for_update(of=("self",)).filter(pk__in=list(wanted))
    held = {row.pk: row for row in rows.order_by("pk")}
    for pk, read in wanted.items():
        if pk not in held:
            raise NotFound("One of the two records has been deleted meanwhile.")
        if (held[pk].version, held[pk].kind) != (read.version, read.kind):
            raise Conflict("One of the two records has been changed meanwhile.", id=str(pk))
        if held[pk].live_key is None:
            raise Conflict("One of the two records is retired or has expired.", id=str(pk))
    old.metadata = held[old.pk].metadata
