"""Decisions as people read them: both texts, who decided and why, and whether it can be undone."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from goclaw_site.errors import InvalidInput
from memory import queries
from memory.access import Principal, access_token, administers
from memory.filters import Filters
from memory.models import Memory, MemoryRevision
from memory.pages import browsing, differences, paging, sentences
from memory.search import SearchRequest, search
from memory.vocabulary import AMENDED, DECISIONS, PERSONAL, RETIRED, VIAS

A_PAGE = 30
#: Records that a subject stands for: the best of a search, retired ones too.
ABOUT = 50
MAX_SUBJECT = 200
_NAMES = ("q", "record", "run", "via", "decision", "undone", "before")


@dataclass(frozen=True)
class Asked:
    """What an address asks for."""

    subject: str = ""
    record: uuid.UUID | None = None
    run: uuid.UUID | None = None
    via: str = ""
    decision: str = ""
    undone: str = ""
    before: int | None = None

    @property
    def narrowed(self) -> bool:
        """Whether anything but the whole list is asked for."""
        named = (self.subject, self.record, self.run, self.via, self.decision, self.undone)
        return any(named)

    def older(self, last: int) -> str:
        """Return the address of the next page."""
        values = {
            "q": self.subject, "record": self.record, "run": self.run, "via": self.via,
            "decision": self.decision, "undone": self.undone,
        }  # fmt: skip
        kept = {name: str(value) for name, value in values.items() if value}
        return urlencode({**kept, "before": last})


@dataclass(frozen=True)
class Side:
    """One of the two texts. `record` is None where it is gone or not the reader's to see."""

    text: str
    record: uuid.UUID | None = None
    live: bool = False


@dataclass(frozen=True)
class Shown:
    """One decision."""

    row: MemoryRevision
    what: str
    how: str
    scope: sentences.ScopeWords | None
    old: Side | None
    new: Side | None
    parts: Sequence[differences.Part] | None
    run_size: int
    undoable: bool

    @property
    def undone(self) -> bool:
        """Whether it no longer stands."""
        return self.row.undone_at is not None


@dataclass(frozen=True)
class Page:
    """A page of decisions; `older` is the address of the next."""

    rows: tuple[Shown, ...]
    older: str = ""


def read(values: QueryDict) -> Asked:
    """Return what is asked for. Raise InvalidInput, with the field, for a wrong value."""
    for name in values:
        if name not in _NAMES:
            raise InvalidInput(f"'{name[:40]}' is not a filter of this list.", field=name[:40])
    return Asked(
        subject=values.get("q", "").strip()[:MAX_SUBJECT],
        record=_id("record", values.get("record", "")),
        run=_id("run", values.get("run", "")),
        via=_word("via", values.get("via", ""), VIAS),
        decision=_word("decision", values.get("decision", ""), DECISIONS),
        undone=_word("undone", values.get("undone", ""), ("yes", "no")),
        before=_number(values.get("before", "")),
    )


def _id(name: str, text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        raise InvalidInput(f"{name} is not an id.", field=name) from None


def _word(name: str, text: str, known: Iterable[str]) -> str:
    words = tuple(known)
    if text and text not in words:
        raise InvalidInput(f"{name} is one of {', '.join(words)}.", field=name)
    return text


def _number(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise InvalidInput("This place in the list does not exist.", field="before")
    return int(text)


def page(principal: Principal, asked: Asked) -> Page:
    """Return the newest decisions that fit, of what the reader may see."""
    rows = list(_rows(principal, asked).order_by("-pk")[: A_PAGE + 1])
    more = len(rows) > A_PAGE
    rows = rows[:A_PAGE]
    return Page(tuple(shown(principal, rows)), asked.older(rows[-1].pk) if more else "")


def _rows(principal: Principal, asked: Asked) -> QuerySet[MemoryRevision]:
    rows = queries.decisions(principal)
    if asked.subject:
        rows = rows.filter(_about(_found(principal, asked.subject)))
    if asked.record:
        rows = rows.filter(_about([asked.record]))
    if asked.undone:
        rows = rows.filter(undone_at__isnull=asked.undone == "no")
    for name in ("via", "decision"):
        if value := getattr(asked, name):
            rows = rows.filter(**{name: value})
    if asked.run:
        rows = rows.filter(run_id=asked.run)
    return rows.filter(pk__lt=asked.before) if asked.before else rows


def _about(ids: Sequence[uuid.UUID]) -> Q:
    return Q(old_id__in=ids) | Q(new_id__in=ids)


def _found(principal: Principal, subject: str) -> list[uuid.UUID]:
    wanted = SearchRequest(subject, Filters(include_history=True), max_results=ABOUT, min_score=0.0)
    return [hit.id for hit in search(principal, wanted).hits]


def shown(principal: Principal, rows: Sequence[MemoryRevision]) -> list[Shown]:
    """Return the decisions with both texts, in a number of queries that does not grow."""
    ids = [pk for row in rows for pk in (row.old_id, row.new_id) if pk is not None]
    records = {record.pk: record for record in paging.by_ids(principal, ids)}
    sizes = _run_sizes(principal, rows)
    return [_shown(principal, row, records, sizes) for row in rows]


def _shown(
    principal: Principal,
    row: MemoryRevision,
    records: Mapping[uuid.UUID, Memory],
    sizes: Mapping[uuid.UUID, int],
) -> Shown:
    what, how = sentences.decision_words(row.decision, row.via, about_self=True)
    old, new = records.get(row.old_id), records.get(row.new_id) if row.new_id else None
    before, after = _sides(row, old, new)
    record = old or new
    return Shown(
        row=row,
        what=what,
        how=how,
        scope=sentences.scope_words(record.scope) if record else None,
        old=before,
        new=after,
        parts=differences.compare(before.text, after.text) if before and after else None,
        run_size=sizes.get(row.run_id, 1),
        undoable=may_undo(principal, row) and _stands(row, old),
    )


def _sides(
    row: MemoryRevision, old: Memory | None, new: Memory | None
) -> tuple[Side | None, Side | None]:
    if row.decision == AMENDED:
        before = Side(row.text_before[: paging.OPENING], row.old_id) if row.text_before else None
        after = Side(row.text_after[: paging.OPENING], row.old_id) if row.text_after else None
        return before, after
    return _side(old), _side(new) if row.new_id != row.old_id else None


def _side(record: Memory | None) -> Side | None:
    if record is None:
        return None
    return Side(browsing.opening(record), record.pk, record.live_key is not None)


def _stands(row: MemoryRevision, old: Memory | None) -> bool:
    return row.decision == RETIRED and row.undone_at is None and bool(old and old.superseded)


def may_undo(principal: Principal, row: MemoryRevision) -> bool:
    """Whether an undo would not be refused: administrators, or the owner of personal ones."""
    if principal.read_only:
        return False
    own = principal.reads_of
    mine = own is not None and row.access == access_token(PERSONAL, own)
    return mine or administers(principal)


def _run_sizes(principal: Principal, rows: Sequence[MemoryRevision]) -> dict[uuid.UUID, int]:
    runs = {row.run_id for row in rows}
    found = queries.decisions(principal).filter(run_id__in=runs).order_by()
    counted = found.values("run_id").annotate(size=Count("pk"))
    return {row["run_id"]: row["size"] for row in counted}


@dataclass(frozen=True)
class Run:
    """What one run decided, of what the reader may see."""

    id: uuid.UUID
    decided: int
    retired: int
    undone: int
    first: MemoryRevision

    @property
    def waiting(self) -> int:
        """Decisions that an undo would take back."""
        return self.retired - self.undone


def run(principal: Principal, run_id: uuid.UUID) -> Run | None:
    """Return the run in numbers; None where the reader may see nothing of it."""
    rows = queries.decisions(principal).filter(run_id=run_id)
    first = rows.order_by("pk").first()
    if first is None:
        return None
    undoable = Q(decision__in=(RETIRED, AMENDED))
    counted = rows.order_by().aggregate(
        decided=Count("pk"),
        retired=Count("pk", filter=undoable),
        undone=Count("pk", filter=undoable & Q(undone_at__isnull=False)),
    )
    return Run(run_id, counted["decided"], counted["retired"], counted["undone"], first)
