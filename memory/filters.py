"""What a list or a search is narrowed by; an unknown filter is an error, never ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.timezone import get_default_timezone, is_naive, make_aware

from goclaw_site.errors import InvalidInput
from memory.drafts import MAX_AGENT, MAX_DOMAIN, MAX_SOURCE_ID, MAX_TAG, check_line, check_moment
from memory.expiry import unexpired
from memory.models import MemoryRevision, MemorySource, MemoryTag
from memory.vocabulary import ALL_KINDS, RETIRED, SCOPES

MAX_VALUES = 50


@dataclass(frozen=True)
class Filters:
    """Every set filter must hold; within one filter any value will do, but every tag is needed."""

    scopes: tuple[str, ...] | None = None
    kinds: tuple[str, ...] = ()
    domain: str | None = None
    tags: tuple[str, ...] = ()
    agent: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_history: bool = False
    as_of: datetime | None = None

    @property
    def reaches_back(self) -> bool:
        """Whether records that are superseded today may be found."""
        return self.include_history or self.as_of is not None

    @property
    def narrowing(self) -> bool:
        """Whether more is asked than scope and liveness, which every index knows by itself."""
        narrow = (self.kinds, self.tags, self.since, self.until, self.as_of)
        named = (self.domain, self.agent, self.source)
        return any(narrow) or any(value is not None for value in named)


def condition(filters: Filters) -> Q:
    """Return the filters as a condition on `memories`, liveness and expiry included."""
    wanted = unexpired()
    if not filters.reaches_back:
        wanted &= Q(live_key__isnull=False)
    if filters.scopes is not None:
        wanted &= Q(scope__in=filters.scopes)
    return wanted & narrowing(filters)


def narrowing(filters: Filters) -> Q:
    """Return the part of the condition that indexes do not know by themselves."""
    wanted = Q()
    if filters.kinds:
        wanted &= Q(kind__in=filters.kinds)
    if filters.domain is not None:
        wanted &= Q(domain=filters.domain)
    if filters.agent is not None:
        wanted &= Q(agent=filters.agent)
    for tag in filters.tags:
        wanted &= Q(Exists(MemoryTag.objects.filter(memory=OuterRef("pk"), tag=tag)))
    if filters.source is not None:
        wanted &= Q(
            Exists(MemorySource.objects.filter(memory=OuterRef("pk"), source_id=filters.source))
        )
    if filters.as_of is not None:
        wanted &= _live_at(filters.as_of)
    return wanted & _within(filters)


def _live_at(moment: datetime) -> Q:
    """Written by then, and not retired by a decision that stood at that moment."""
    retired = MemoryRevision.objects.filter(
        Q(undone_at__isnull=True) | Q(undone_at__gt=moment),
        old=OuterRef("pk"),
        decision=RETIRED,
        created_at__lte=moment,
    )
    return Q(created_at__lte=moment) & ~Q(Exists(retired))


def _within(filters: Filters) -> Q:
    """Time is when it was said, else when the record last changed."""
    said = Coalesce("occurred_at", "updated_at")
    wanted = Q()
    if filters.since is not None:
        wanted &= Q(GreaterThanOrEqual(said, filters.since))
    if filters.until is not None:
        wanted &= Q(LessThanOrEqual(said, filters.until))
    return wanted


#: Both the singular and the plural of a list filter are taken.
_LISTS = {"scope": "scopes", "scopes": "scopes", "tag": "tags", "tags": "tags"} | {
    "kind": "kinds",
    "kinds": "kinds",
}
_LINES = {"domain": MAX_DOMAIN, "agent": MAX_AGENT, "source": MAX_SOURCE_ID}
_TIMES = ("since", "until", "as_of")
NAMES = (*_LISTS, *_LINES, *_TIMES, "include_history")


def parse(values: Mapping[str, Any], also: Sequence[str] = ()) -> Filters:
    """Return filters from a request's values; names in `also` belong to the caller.

    Lists come as lists or single values, times as ISO 8601. Raises InvalidInput.
    """
    for name in values:
        if name not in NAMES and name not in also:
            known = ", ".join(sorted({*NAMES, *also}))
            raise InvalidInput(f"'{name[:40]}' is not a filter; there are {known}.", field=name)
    found: dict[str, Any] = {}
    for name, target in _LISTS.items():
        if name in values and values[name] is not None:
            found[target] = (*found.get(target, ()), *_list(name, values[name]))
    for name, limit in _LINES.items():
        if values.get(name) is not None:
            found[name] = check_line(name, values[name], limit)
    for name in _TIMES:
        if values.get(name) is not None:
            found[name] = parse_time(name, values[name])
    if values.get("include_history") is not None:
        found["include_history"] = parse_flag("include_history", values["include_history"])
    return _known_words(Filters(**found))


def _known_words(filters: Filters) -> Filters:
    for name, given, allowed in (
        ("scope", filters.scopes or (), SCOPES),
        ("kind", filters.kinds, ALL_KINDS),
    ):
        for word in given:
            if word not in allowed:
                raise InvalidInput(
                    f"{name} '{word[:40]}' is unknown; use one of {', '.join(allowed)}.",
                    field=name,
                )
    for tag in filters.tags:
        check_line("tag", tag, MAX_TAG)
    return filters


def _list(name: str, value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, (list, tuple)) else [value]
    if len(values) > MAX_VALUES:
        raise InvalidInput(
            f"{name} has {len(values)} values; the limit is {MAX_VALUES}.", field=name
        )
    return tuple(check_line(name, item, 64) for item in values)


def parse_time(name: str, value: Any) -> datetime:
    """Return an aware time from ISO 8601; a date alone is its first moment."""
    moment = value if isinstance(value, datetime) else None
    if isinstance(value, str):
        moment = _parsed(value)
    if moment is None:
        raise InvalidInput(f"{name} is not a time such as 2026-01-31T09:00:00Z.", field=name)
    aware = make_aware(moment, get_default_timezone()) if is_naive(moment) else moment
    return check_moment(name, aware)


def _parsed(value: str) -> datetime | None:
    try:
        moment = parse_datetime(value.strip())
        day = parse_date(value.strip()) if moment is None else None
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day) if day else moment  # noqa: DTZ001  made aware above


def parse_flag(name: str, value: Any) -> bool:
    """Return a yes or no as JSON or a query string spell it."""
    if isinstance(value, bool):
        return value
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    answer = words.get(str(value).strip().lower())
    if answer is None:
        raise InvalidInput(f"{name} must be true or false.", field=name)
    return answer
