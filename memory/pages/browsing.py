"""One list of records: found by a search, or the newest first."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from goclaw_site.errors import InvalidInput
from memory import filters as filtering
from memory.access import Principal
from memory.filters import Filters
from memory.models import Memory
from memory.pages import facets, paging, sentences
from memory.pages.addresses import Address, canonical
from memory.pages.paging import Cursor
from memory.search import Hit, Results, SearchRequest, search
from memory.vocabulary import CRITICAL, INDEXED, UNVERIFIED

#: Results of a search come in steps of so many, up to a hundred.
STEP = 20
MOST = 100
_OWN = ("q", "cursor", "record", "n")


@dataclass(frozen=True)
class Asked:
    """What an address asks for."""

    query: str
    filters: Filters
    address: Address
    cursor: Cursor | None = None
    limit: int = STEP
    record: uuid.UUID | None = None


@dataclass(frozen=True)
class Row:
    """One record in a list."""

    id: uuid.UUID
    url: str
    says: str | SafeString
    scope: sentences.ScopeWords
    kind: str
    domain: str
    tags: tuple[str, ...]
    at: datetime
    origin: str = ""
    why: str = ""
    waiting: bool = False
    superseded: bool = False
    critical: bool = False
    unverified: bool = False
    personal: bool = False


@dataclass(frozen=True)
class Listing:
    """A list as it is shown; `title` says what it is in a few words."""

    rows: tuple[Row, ...]
    title: str
    following: str = ""
    results: Results | None = None
    first: bool = True


def read(values: QueryDict, path: str, scope: str | None = None) -> Asked:
    """Return what is asked for. Raise InvalidInput for an unknown filter or a wrong value."""
    address = canonical(path, values.lists())
    given: dict[str, Any] = {}
    for name in dict.fromkeys(name for name, _ in address.values):
        found = address.values_of(name)
        several = name in ("scope", "scopes", "tag", "tags", "kind", "kinds")
        if len(found) > 1 and not several:
            raise InvalidInput(f"'{name[:40]}' is given {len(found)} times.", field=name[:40])
        given[name] = found if several else found[0]
    wanted = filtering.parse(given, also=_OWN)
    return Asked(
        query=str(given.get("q", "")),
        filters=replace(wanted, scopes=(scope,)) if scope else wanted,
        address=address,
        cursor=Cursor.read(given["cursor"]) if "cursor" in given else None,
        limit=_limit(given),
        record=_record(given),
    )


def _limit(given: Mapping[str, Any]) -> int:
    text = str(given.get("n", STEP))
    if not text.isascii() or not text.isdigit():
        raise InvalidInput("n is not a number.", field="n")
    return min(max(int(text[:4]), STEP), MOST)


def _record(given: Mapping[str, Any]) -> uuid.UUID | None:
    try:
        return uuid.UUID(given["record"]) if "record" in given else None
    except ValueError:
        raise InvalidInput("record is not the id of a record.", field="record") from None


def listing(principal: Principal, asked: Asked) -> Listing:
    """Return the list that is asked for."""
    return _found(principal, asked) if asked.query else _newest(principal, asked)


def _found(principal: Principal, asked: Asked) -> Listing:
    results = search(principal, SearchRequest(asked.query, asked.filters, max_results=asked.limit))
    rows = tuple(_of_hit(hit, asked) for hit in results.hits)
    full = len(rows) == asked.limit and asked.limit < MOST
    bare = asked.address.bare()
    more = str(bare.with_value("n", str(min(asked.limit + STEP, MOST)))) if full else ""
    count = f"the best {len(rows)}" if full or len(rows) == MOST else _results(len(rows))
    return Listing(rows, count, more, results)


def _results(number: int) -> str:
    return sentences.plural(number, "result") if number else "no results"


def _newest(principal: Principal, asked: Asked) -> Listing:
    rows, following = paging.newest(principal, asked.filters, asked.cursor)
    shown = tuple(_of_record(row, asked) for row in rows)
    bare = asked.address.bare()
    more = str(bare.with_value("cursor", str(following))) if following else ""
    title = _count(principal, asked, len(shown), more=bool(more))
    return Listing(shown, title, more, first=asked.cursor is None)


def _count(principal: Principal, asked: Asked, shown: int, *, more: bool) -> str:
    """Say how many there are; counting under filters could read every row, so it is left out."""
    if not more and asked.cursor is None:
        return sentences.plural(shown, "record") if shown else "no records"
    if asked.filters.narrowing or asked.cursor is not None:
        return "the newest first" if asked.cursor is None else "older records"
    return f"{paging.counted(paging.count(principal, asked.filters))} records, the newest first"


def _link(record: uuid.UUID, asked: Asked) -> str:
    address = Address(reverse("memory-record", args=[record]))
    return str(address.with_value("q", asked.query) if asked.query else address)


def _of_hit(hit: Hit, asked: Asked) -> Row:
    return Row(
        id=hit.id,
        url=_link(hit.id, asked),
        # The search escapes everything and adds its marks alone.
        says=mark_safe(hit.snippet),  # noqa: S308
        scope=sentences.scope_words(hit.scope),
        kind=hit.kind,
        domain=hit.domain,
        tags=visible_tags(hit.tags),
        at=hit.occurred_at or hit.updated_at,
        why=hit.explain.words,
        superseded=hit.superseded,
        critical=CRITICAL in hit.tags,
        unverified=UNVERIFIED in hit.tags,
        personal=hit.scope == "personal",
    )


def _of_record(record: Memory, asked: Asked) -> Row:
    tags = record.tag_names
    return Row(
        id=record.pk,
        url=_link(record.pk, asked),
        says=opening(record),
        scope=sentences.scope_words(record.scope),
        kind=record.kind,
        domain=record.domain,
        tags=visible_tags(tags),
        at=record.occurred_at or record.updated_at,
        origin=sentences.origin(record.metadata.get("provenance", {}), record.agent, record.kind),
        waiting=record.index_state != INDEXED,
        superseded=record.superseded,
        critical=CRITICAL in tags,
        unverified=UNVERIFIED in tags,
        personal=record.scope == "personal",
    )


def opening(record: Memory) -> str:
    """Return the beginning of a record that was read by `paging.opened`."""
    text, length = record.opening, record.length  # type: ignore[attr-defined]  # annotations
    return f"{text} …" if length > paging.OPENING else str(text)


def visible_tags(tags: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Return the tags that have no mark of their own."""
    return tuple(tag for tag in tags if tag not in (CRITICAL, UNVERIFIED, "superseded"))


def context(principal: Principal, asked: Asked, scope: str | None = None) -> dict[str, Any]:
    """Return what the templates of a list need."""
    shown = listing(principal, asked)
    return {
        "asked": asked,
        "list": shown,
        "facets": facets.build(principal, asked.filters, asked.address, fixed_scope=scope),
        "narrowed": bool(asked.filters.narrowing or asked.filters.scopes is not None),
        "kept": [pair for pair in asked.address.bare().values if pair[0] != "q"],
        "here": str(asked.address.bare()),
    }
