"""What a deleted record leaves in the history of others: no text; a flag on what rests on it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from memory.chunks import batches
from memory.models import Memory, MemoryRevision, MemoryTag
from memory.vocabulary import RESTS_ON_DELETED, RETIRED


def wipe(memory_ids: Sequence[uuid.UUID]) -> None:
    """Take the records' texts out of every decision; flag the merged records that rest on them.

    A reason may quote either side, so it goes with the text of either.
    """
    for batch in batches(memory_ids):
        _wipe(set(batch))


def _wipe(ids: set[uuid.UUID]) -> None:
    resting = _resting_on(ids)
    _flag(resting)
    MemoryRevision.objects.filter(old_id__in=ids).update(
        text_before="", text_after="", reason="", undone_reason=""
    )
    MemoryRevision.objects.filter(new_id__in=ids | resting).update(text_after="")
    quoting = MemoryRevision.objects.filter(new_id__in=ids).exclude(reason="")
    _forget_reasons(set(quoting.values_list("old_id", flat=True)), ids)
    quoting.update(reason="")


def _resting_on(ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Return the records that were made from these, and from what was made from them."""
    found: set[uuid.UUID] = set()
    nearest = set(ids)
    while nearest:
        rows = MemoryRevision.objects.filter(
            old_id__in=nearest, merged=True, decision=RETIRED, undone_at__isnull=True
        )
        nearest = {pk for pk in rows.values_list("new_id", flat=True) if pk} - found
        found |= nearest
    return found


def _flag(ids: set[uuid.UUID]) -> None:
    held = Memory.objects.filter(pk__in=ids).values_list("pk", flat=True)
    MemoryTag.objects.bulk_create(
        [MemoryTag(memory_id=pk, tag=RESTS_ON_DELETED) for pk in held], ignore_conflicts=True
    )


def _forget_reasons(ids: set[uuid.UUID], newer: set[uuid.UUID]) -> None:
    """The reason stands on the retired records, too."""
    gone = {str(pk) for pk in newer}
    for batch in batches(sorted(ids)):
        retired = Memory.objects.filter(pk__in=batch)
        quoting = [row for row in retired if row.metadata.get("superseded_by") in gone]
        for old in quoting:
            old.metadata = {**old.metadata, "superseded_reason": ""}
        Memory.objects.bulk_update(quoting, ["metadata"])
