"""Decisions are taken back: by record, by run, or one amendment; for good, by a veto."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Q, QuerySet

from goclaw_site.errors import Conflict, NotFound, Refused
from memory import audit, queries, write
from memory.access import (
    Principal,
    access_token,
    administers,
    require_change,
    require_write,
    visible,
    visible_tokens,
)
from memory.beliefs import restoring, vetoes
from memory.beliefs.retiring import retire
from memory.chunks import batches
from memory.drafts import Changes, check_text
from memory.models import Memory, MemoryRevision, MemoryTag
from memory.vocabulary import AMENDED, MERGE_UNDONE, PERSONAL, RETIRED, SCOPES, SUPERSEDED

MAX_REASON = 1000
#: Decisions undone in one transaction: a run of thousands is undone in several.
AT_ONCE = 200


@dataclass
class Undone:
    """What an undo did, as ids of records.

    `restored` are live again; `doubles` stay retired, because the same text is live in another
    record; `retired` were made by a merge and went with it; `flagged` were amended since their
    merge, and stay; `already` had been undone before; `gone` were deleted or have expired.
    """

    restored: list[uuid.UUID] = field(default_factory=list)
    doubles: list[tuple[uuid.UUID, uuid.UUID]] = field(default_factory=list)
    retired: list[uuid.UUID] = field(default_factory=list)
    flagged: list[uuid.UUID] = field(default_factory=list)
    amended: list[uuid.UUID] = field(default_factory=list)
    already: list[uuid.UUID] = field(default_factory=list)
    gone: list[uuid.UUID] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything was undone now."""
        groups = (self.restored, self.doubles, self.retired, self.flagged, self.amended, self.gone)
        return any(groups)

    @property
    def sentence(self) -> str:
        """Say what was done, for people."""
        said = [
            words.format(count=f"{len(getattr(self, name)):,}")
            for name, words in _SAID.items()
            if getattr(self, name)
        ]
        if not self.changed:
            return "It was undone already; nothing has changed."
        return " ".join(said)


_SAID = {
    "restored": "Live again: {count}.",
    "amended": "Given the text of before: {count}.",
    "retired": "Merged records that are retired with their merge: {count}.",
    "doubles": "Left retired, because the same text is live in another record: {count}.",
    "flagged": "Merged records that were amended since, and stay with a flag: {count}.",
    "gone": "Deleted, expired or changed meanwhile: {count}.",
    "already": "Undone before: {count}.",
}


def undo_record(principal: Principal, memory_id: uuid.UUID, reason: str = "") -> Undone:
    """Take back the newest decision that retired this record; with a merge, the whole merge.

    Undoing twice changes nothing and says so. Raises NotFound, Refused, and Conflict for a record
    that was never retired.
    """
    said = check_reason(reason)
    subject = audit.of_record(memory_id)
    with audit.refusals(principal, "undo", subject), transaction.atomic():
        record = locked(principal, memory_id)
        require_right(principal, record.scope)
        decided = MemoryRevision.objects.filter(old_id=record.pk, decision=RETIRED)
        row = decided.order_by("-pk").first()
        if row is None:
            raise Conflict("This record was never retired: there is nothing to undo.")
        if row.undone_at is not None and not record.superseded:
            return Undone(already=[record.pk])
        done = _undo(principal, [row], said)
        audit.record(principal, "undo", subject, scope=record.scope, run=str(row.run_id))
    return done


def undo_run(principal: Principal, run_id: uuid.UUID, reason: str = "") -> Undone:
    """Take back every decision of one run that this caller may see and undo, the newest first.

    In transactions of `AT_ONCE` decisions: an undo that is cut short goes on where it stopped.
    Raises NotFound, Refused.
    """
    said = check_reason(reason)
    subject = f"run:{run_id}"
    with audit.refusals(principal, "undo.run", subject):
        rows = _of_run(principal, run_id)
        done = Undone(already=list(rows.exclude(undone_at=None).values_list("old_id", flat=True)))
        waiting = list(rows.filter(undone_at=None).order_by("-pk").values_list("pk", flat=True))
        for batch in batches(waiting, AT_ONCE):
            with transaction.atomic():
                held = MemoryRevision.objects.select_for_update().filter(pk__in=batch)
                _add(done, _undo(principal, list(held.filter(undone_at=None)), said))
        audit.record(principal, "undo.run", subject, count=len(waiting))
    return done


def undo_amendment(principal: Principal, memory_id: uuid.UUID, revision: int) -> Memory:
    """Give the record the text it had before an amendment. That is an amendment too.

    Raises NotFound, and what `write.amend` raises.
    """
    with transaction.atomic():
        record = queries.record(principal, memory_id)
        row = (
            queries.decisions(principal)
            .filter(pk=revision, old_id=record.pk, decision=AMENDED)
            .first()
        )
        if row is None or not row.text_before:
            raise NotFound("There is no such change of this record.")
        if row.text_before == record.content:
            return record
        amended = write.amend(principal, memory_id, Changes(content=row.text_before))
        if row.undone_at is None:
            restoring.close(MemoryRevision.objects.filter(pk=row.pk), principal.actor, "")
        return amended


def check_reason(reason: str) -> str:
    """Return the reason in its stored form. Raise InvalidInput."""
    return check_text("reason", reason).strip()[:MAX_REASON]


def locked(principal: Principal, memory_id: uuid.UUID) -> Memory:
    rows = Memory.objects.select_for_update(of=("self",))
    record = rows.filter(visible(principal), pk=memory_id).first()
    if record is None:
        raise NotFound("No such record.")
    return record


def require_right(principal: Principal, scope: str) -> None:
    """Raise Refused unless the caller administers, or owns the personal record."""
    require_change(principal)
    if scope != PERSONAL and not administers(principal):
        raise Refused("Decisions about shared records are undone by administrators.")
    require_write(principal, scope)


def _of_run(principal: Principal, run_id: uuid.UUID) -> QuerySet[MemoryRevision]:
    """Return the decisions of a run that the caller may undo; those of others are others' affair.

    Raises NotFound where none may be seen, Refused where none may be undone.
    """
    undoable = Q(decision=RETIRED) | Q(decision=AMENDED)
    tokens = visible_tokens(principal)
    rows = MemoryRevision.objects.filter(undoable, run_id=run_id, access__in=tokens)
    touched = set(rows.order_by().values_list("access", flat=True).distinct())
    if not touched:
        raise NotFound("No such run.")
    return rows.filter(access__in=_undoable(principal, touched))


def _undoable(principal: Principal, tokens: set[str]) -> list[str]:
    shared = {access_token(scope, None): scope for scope in SCOPES if scope != PERSONAL}
    allowed, refusals = [], []
    for token in sorted(tokens):
        try:
            require_right(principal, shared.get(token, PERSONAL))
        except Refused as error:
            refusals.append(error)
        else:
            allowed.append(token)
    if not allowed:
        raise refusals[0]
    return allowed


def _with_their_merges(rows: Iterable[MemoryRevision]) -> list[MemoryRevision]:
    """Return the decisions with those about the other sources of the same merges."""
    found = {row.pk: row for row in rows}
    for run_id, new_id in {(row.run_id, row.new_id) for row in found.values() if row.merged}:
        same = _of_merge(run_id, new_id).filter(undone_at=None)
        found |= {row.pk: row for row in same}
    return list(found.values())


def _of_merge(run_id: uuid.UUID, new_id: uuid.UUID | None) -> QuerySet[MemoryRevision]:
    return MemoryRevision.objects.filter(
        run_id=run_id, new_id=new_id, merged=True, decision=RETIRED
    )


def _undo(principal: Principal, rows: Sequence[MemoryRevision], reason: str) -> Undone:
    """Undo these decisions, with the merges that they are part of. Call inside a transaction."""
    done = Undone()
    _undo_amendments(principal, [row for row in rows if row.decision == AMENDED], reason, done)
    retired = _with_their_merges(row for row in rows if row.decision == RETIRED)
    for batch in batches([row.pk for row in retired if row.undone_at is None]):
        restoring.close(MemoryRevision.objects.filter(pk__in=batch), principal.actor, reason)
    _veto(retired)
    _part_merged(principal, retired, done)
    _restore(principal, retired, done)
    return done


def _veto(rows: Sequence[MemoryRevision]) -> None:
    """Keep the texts of each decision apart for good; of a merge, all of them from each other."""
    pairs: dict[str, set[vetoes.Pair]] = {}
    merges: dict[tuple[uuid.UUID, uuid.UUID | None, str], set[str]] = {}
    for row in rows:
        if row.merged:
            merges[row.run_id, row.new_id, row.access] = {row.new_hash}
        elif row.new_hash:
            pairs.setdefault(row.access, set()).add(vetoes.pair(row.old_hash, row.new_hash))
    for (run_id, new_id, access), texts in merges.items():
        texts |= set(_of_merge(run_id, new_id).values_list("old_hash", flat=True))
        pairs.setdefault(access, set()).update(vetoes.all_pairs(texts))
    for access, found in pairs.items():
        vetoes.add(access, found)


def _part_merged(principal: Principal, rows: Sequence[MemoryRevision], done: Undone) -> None:
    """Retire what the merges had made; what was amended since stays, with a flag."""
    made = {row.new_id: row.new_hash for row in rows if row.merged and row.new_id}
    live = Memory.objects.select_for_update(of=("self",)).filter(
        pk__in=list(made), live_key__isnull=False
    )
    for memory in live.order_by("pk"):
        if memory.content_hash == made[memory.pk]:
            reason = "its merge was undone"
            retire(memory, None, via="undo", reason=reason, actor=principal.actor)
            done.retired.append(memory.pk)
        else:
            MemoryTag.objects.get_or_create(memory=memory, tag=MERGE_UNDONE)
            done.flagged.append(memory.pk)


def _restore(principal: Principal, rows: Sequence[MemoryRevision], done: Undone) -> None:
    wanted = [row.old_id for row in rows]
    superseded = []
    for batch in batches(wanted):
        tags = MemoryTag.objects.filter(memory_id__in=batch, tag=SUPERSEDED)
        ids = list(tags.values_list("memory_id", flat=True))
        held = Memory.objects.select_for_update(of=("self",)).filter(pk__in=ids)
        superseded += list(held.order_by("pk"))
    back = restoring.bring_back(superseded, principal.actor)
    known = {memory.pk for memory in superseded}
    done.restored += back.live
    done.doubles += back.doubles
    done.gone += [*back.expired, *(pk for pk in wanted if pk not in known)]


def _undo_amendments(
    principal: Principal, rows: Sequence[MemoryRevision], reason: str, done: Undone
) -> None:
    """An amendment whose text has been changed again since is left as it is."""
    for row in rows:
        record = Memory.objects.filter(pk=row.old_id, content=row.text_after).first()
        if record is None or not row.text_before:
            done.gone.append(row.old_id)
            continue
        write.amend(principal, record.pk, Changes(content=row.text_before))
        restoring.close(MemoryRevision.objects.filter(pk=row.pk), principal.actor, reason)
        done.amended.append(record.pk)


def _add(done: Undone, more: Undone) -> None:
    for name in ("restored", "doubles", "retired", "flagged", "amended", "already", "gone"):
        getattr(done, name).extend(getattr(more, name))
