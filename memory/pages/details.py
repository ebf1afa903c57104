"""Everything about one record that its page shows."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from goclaw_site.errors import Refused
from memory import queries
from memory.access import Principal, administers, require_write
from memory.filters import Filters, condition
from memory.models import Memory, MemoryRevision, MemorySource
from memory.pages import browsing, differences, paging, sentences
from memory.search import Hit, SearchRequest, search
from memory.vocabulary import AMENDED, CRITICAL, PERSONAL, SUPERSEDED, UNVERIFIED

#: Decisions shown on a record's page; a record with more has been changed by a machine.
SHOWN_DECISIONS = 50
#: Characters of a record's text that stand open; the rest opens on demand.
FOLDED = 1_500
#: Places whose neighbours are shown; a record said in more of them is a commonplace.
NEAR = 5


@dataclass(frozen=True)
class Decision:
    """One entry of the history. `undoes` is set where the old text can be brought back."""

    revision: MemoryRevision
    what: str
    how: str
    other: uuid.UUID | None
    parts: Sequence[differences.Part] | None
    undoes: bool
    newest: bool
    says: str = ""

    @property
    def wide(self) -> bool:
        """Whether the texts are too different to be compared by words."""
        return self.parts is None and bool(self.revision.text_before)


@dataclass(frozen=True)
class Detail:
    """A record with what belongs to it."""

    record: Memory
    words: sentences.ScopeWords
    origin: str
    index: str
    tags: tuple[str, ...]
    marks: tuple[str, ...]
    chunks: int
    sources: Sequence[MemorySource]
    neighbours: Sequence[Memory]
    decisions: Sequence[Decision]
    successor: uuid.UUID | None
    refusal: str
    may_delete: bool
    hit: Hit | None = None

    @property
    def may_change(self) -> bool:
        """Whether the asker may amend it."""
        return not self.refusal

    @property
    def restorable(self) -> bool:
        """Whether the asker may bring it back from being retired."""
        return self.record.superseded and self.may_delete

    @property
    def disownable(self) -> bool:
        """Whether the asker may take it out of search as wrong."""
        return self.record.live_key is not None and self.may_delete

    @property
    def changed(self) -> bool:
        """Whether its time of change is another than that of its writing."""
        return (self.record.updated_at - self.record.created_at).total_seconds() > 1

    @property
    def head(self) -> str:
        """The text that stands open."""
        return self.record.content[:FOLDED]

    @property
    def rest(self) -> str:
        """The text that opens on demand."""
        return self.record.content[FOLDED:]

    @property
    def last_change(self) -> Decision | None:
        """The amendment that can be undone at once."""
        return next((row for row in self.decisions if row.undoes and row.newest), None)


def detail(principal: Principal, memory_id: uuid.UUID, query: str = "") -> Detail:
    """Return a record as its page shows it. Raise NotFound also for what is not theirs."""
    record = queries.record(principal, memory_id)
    tags = record.tag_names
    chunks, embedded = _chunks(record)
    refusal = _refusal(principal, record)
    return Detail(
        record=record,
        words=sentences.scope_words(record.scope),
        origin=sentences.origin(record.metadata.get("provenance", {}), record.agent, record.kind),
        index=sentences.index_words(record.index_state, chunks, embedded, record.last_error),
        tags=browsing.visible_tags(tags),
        marks=tuple(tag for tag in tags if tag in (CRITICAL, UNVERIFIED, SUPERSEDED)),
        chunks=chunks,
        sources=list(record.sources.order_by("pk")[:20]),
        neighbours=_neighbours(principal, record),
        decisions=_decisions(principal, record),
        successor=_successor(principal, record),
        refusal=refusal,
        may_delete=not refusal and may_delete(principal, record),
        hit=_hit(principal, memory_id, query),
    )


def may_delete(principal: Principal, record: Memory) -> bool:
    """Whether a delete would not be refused: people delete their own, administrators the rest."""
    return record.scope == PERSONAL or administers(principal)


def _chunks(record: Memory) -> tuple[int, int]:
    counted = record.chunks.aggregate(
        all=Count("pk"), embedded=Count("pk", filter=~Q(embedding_model=""))
    )
    return counted["all"], counted["embedded"]


def _neighbours(principal: Principal, record: Memory) -> Sequence[Memory]:
    """Return what stands right beside the record in its source, in the order of the source."""
    held = list(record.sources.values_list("kind", "source_id", "position")[:NEAR])
    beside = [(kind, name, place + step) for kind, name, place in held for step in (-1, 1)]
    if not beside:
        return []
    wanted = Q()
    for kind, name, place in beside:
        wanted |= Q(kind=kind, source_id=name, position=place)
    near = MemorySource.objects.filter(wanted, access=record.access)
    order = dict(near.values_list("memory_id", "position"))
    rows = queries.records(principal, Filters(include_history=True)).filter(pk__in=order)
    return sorted(paging.opened(rows), key=lambda row: order[row.pk])


def _decisions(principal: Principal, record: Memory) -> Sequence[Decision]:
    about = Q(old_id=record.pk) | Q(new_id=record.pk)
    rows = list(queries.decisions(principal).filter(about)[:SHOWN_DECISIONS])
    amended = [row for row in rows if row.decision == AMENDED and row.old_id == record.pk]
    newest = amended[0].pk if amended else None
    others = {pk for row in rows for pk in (row.old_id, row.new_id) if pk and pk != record.pk}
    said = {row.pk: browsing.opening(row) for row in paging.by_ids(principal, others)}
    return [_decision(row, record, newest, said) for row in rows]


def _decision(
    row: MemoryRevision, record: Memory, newest: int | None, said: Mapping[uuid.UUID, str]
) -> Decision:
    what, how = sentences.decision_words(row.decision, row.via, about_self=row.old_id == record.pk)
    other = row.new_id if row.old_id == record.pk else row.old_id
    changed = row.text_before != row.text_after
    return Decision(
        revision=row,
        what=what if changed or row.decision != AMENDED else "Changed its kind",
        how=how,
        other=other if other != record.pk else None,
        parts=differences.compare(row.text_before, row.text_after) if changed else [],
        undoes=row.decision == AMENDED
        and bool(row.text_before)
        and row.text_before != record.content,
        newest=row.pk == newest and row.text_after == record.content,
        says=said.get(other, "") if other else "",
    )


def _successor(principal: Principal, record: Memory) -> uuid.UUID | None:
    """Return the record that took this one's place, where the asker may see it."""
    named: Any = record.metadata.get("superseded_by")
    try:
        pk = uuid.UUID(str(named))
    except ValueError:
        return None
    found = queries.visible_by_id(principal, [pk], condition(Filters(include_history=True)))
    return pk if pk in found else None


def _refusal(principal: Principal, record: Memory) -> str:
    try:
        require_write(principal, record.scope)
    except Refused as error:
        return error.message
    return ""


def _hit(principal: Principal, memory_id: uuid.UUID, query: str) -> Hit | None:
    """Return how a search found the record: the search is made again, over everything."""
    if not query.strip():
        return None
    request = SearchRequest(
        query, Filters(include_history=True), max_results=browsing.MOST, min_score=0.0
    )
    return next((hit for hit in search(principal, request).hits if hit.id == memory_id), None)
