"""What changed: what agents wrote, and what was replaced, since a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from goclaw_site.errors import InvalidInput
from memory import queries
from memory.access import Principal, administers
from memory.filters import Filters
from memory.models import Memory, MemoryRevision
from memory.pages import browsing, decisions, paging, sentences
from memory.pages.paging import Cursor
from memory.vocabulary import AMENDED, PERSONAL, RETIRED, SYSTEM_SCOPES

SPANS = {"1": "Today", "7": "7 days", "30": "30 days"}
#: Decisions in the feed; the rest stand in the list of decisions.
MOST = 40
_BY_HAND = ("browser", "command")


@dataclass(frozen=True)
class Written:
    """One record that an agent wrote."""

    record: Memory
    says: str
    scope: sentences.ScopeWords
    origin: str
    marks: tuple[str, ...]
    may_change: bool


@dataclass(frozen=True)
class Feed:
    """What changed since `since`."""

    days: str
    since: datetime
    written: tuple[Written, ...]
    following: str
    replaced: tuple[decisions.Shown, ...]
    more_replaced: bool

    @property
    def empty(self) -> bool:
        """Whether nothing happened."""
        return not self.written and not self.replaced and not self.following


def feed(principal: Principal, days: str, cursor: str = "") -> Feed:
    """Return what changed. Raise InvalidInput for a span or a place that does not exist."""
    if days not in SPANS:
        raise InvalidInput(f"days is one of {', '.join(SPANS)}.", field="days")
    since = beginning(int(days))
    place = Cursor.read(cursor) if cursor else None
    written, following = _written(principal, since, place)
    replaced = [] if place else _replaced(principal, since)
    return Feed(
        days=days,
        since=since,
        written=tuple(written),
        following=str(following or ""),
        replaced=tuple(decisions.shown(principal, replaced[:MOST])),
        more_replaced=len(replaced) > MOST,
    )


def beginning(days: int) -> datetime:
    """Return the first moment of the day, or of the first of several days that end today."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=days - 1)


def _written(
    principal: Principal, since: datetime, cursor: Cursor | None
) -> tuple[list[Written], Cursor | None]:
    """Return a page of records that no person wrote by hand, newest first."""
    wanted = Q(updated_at__gte=since, created_at__gte=since) & ~Q(scope__in=SYSTEM_SCOPES)
    filters = Filters(include_history=True)
    rows, following = paging.newest(principal, filters, cursor, wanted=wanted)
    return [_shown(principal, row) for row in rows if by_agent(row)], following


def by_agent(record: Memory) -> bool:
    """Whether an agent wrote it: named, in an autonomous run, or through a door of agents."""
    provenance = record.metadata.get("provenance", {})
    if record.agent or provenance.get("run_kind", "chat") != "chat":
        return True
    return bool(provenance.get("door")) and provenance["door"] not in _BY_HAND


def _shown(principal: Principal, record: Memory) -> Written:
    tags = record.tag_names
    return Written(
        record=record,
        says=browsing.opening(record),
        scope=sentences.scope_words(record.scope),
        origin=sentences.origin(record.metadata.get("provenance", {}), record.agent, record.kind),
        marks=tuple(tag for tag in tags if tag not in browsing.visible_tags(tags)),
        may_change=not principal.read_only and _may_change(principal, record),
    )


def _may_change(principal: Principal, record: Memory) -> bool:
    return record.scope == PERSONAL or administers(principal)


def _replaced(principal: Principal, since: datetime) -> Sequence[MemoryRevision]:
    rows = queries.decisions(principal).filter(
        created_at__gte=since, decision__in=(RETIRED, AMENDED)
    )
    return list(rows.order_by("-pk")[: MOST + 1])
