"""The filters beside a list: what there is to choose, with counts over the newest records."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from memory import queries
from memory.access import Principal, readable_scopes
from memory.filters import Filters
from memory.models import MemoryTag
from memory.pages.addresses import Address
from memory.pages.sentences import scope_words
from memory.vocabulary import ALL_KINDS, PERSONAL, SCOPES

#: Counts are taken over so many of the newest records: a million rows cannot be counted in time.
SAMPLE = 800
#: More choices than this are typed, not picked.
SHOWN = 12


@dataclass(frozen=True)
class Seen:
    """What the filters look at in one record."""

    scope: str
    kind: str
    domain: str
    agent: str
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Option:
    """One choice: its link switches it on or off."""

    label: str
    url: str
    on: bool
    count: int | None = None


@dataclass(frozen=True)
class Facet:
    """One filter with its choices; a `typed` one takes other values too."""

    name: str
    label: str
    icon: str
    chosen: str = ""
    options: tuple[Option, ...] = ()
    clear: str = ""
    typed: bool = False
    kept: tuple[tuple[str, str], ...] = ()
    dates: tuple[str, str] | None = None


@dataclass(frozen=True)
class Facets:
    """Every filter of a list, and how far their counts reach."""

    facets: tuple[Facet, ...]
    sampled: bool = False
    clear: str = ""
    history: Option = field(default_factory=lambda: Option("", "", on=False))


def build(
    principal: Principal, filters: Filters, address: Address, *, fixed_scope: str | None = None
) -> Facets:
    """Return the filters of a list, with three queries whatever there is."""
    base = Filters(
        scopes=(fixed_scope,) if fixed_scope else None,
        since=filters.since,
        until=filters.until,
        include_history=filters.include_history,
    )
    seen = _sample(principal, base)
    searching = bool(address.values_of("q"))
    maker = _Maker(seen, filters, address.bare(), counted=not searching)
    rows = [] if fixed_scope else [maker.scopes(principal)]
    rows += [maker.kinds(), maker.domains(), maker.tags(), maker.agents(), maker.times()]
    return Facets(
        facets=tuple(rows),
        sampled=len(seen) >= SAMPLE and not searching,
        clear=_cleared(address) if any(row.chosen for row in rows) else "",
        history=maker.history(),
    )


def _cleared(address: Address) -> str:
    kept = tuple(pair for pair in address.values if pair[0] == "q")
    return str(Address(address.path, kept))


def _sample(principal: Principal, filters: Filters) -> list[Seen]:
    rows: list[tuple[Any, ...]] = []
    for part in queries.branches(principal, filters):
        rows += part.values_list("updated_at", "pk", "scope", "kind", "domain", "agent")[:SAMPLE]
    rows.sort(key=lambda row: (row[0], row[1]), reverse=True)
    newest = rows[:SAMPLE]
    tags = _tags_of([row[1] for row in newest])
    return [
        Seen(
            str(row[2]), str(row[3]), str(row[4]), str(row[5] or ""), tags.get(row[1], frozenset())
        )
        for row in newest
    ]


def _tags_of(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, frozenset[str]]:
    found: dict[uuid.UUID, set[str]] = {}
    for memory, tag in MemoryTag.objects.filter(memory_id__in=ids).values_list("memory_id", "tag"):
        found.setdefault(memory, set()).add(tag)
    return {memory: frozenset(tags) for memory, tags in found.items()}


@dataclass(frozen=True)
class _Maker:
    """Makes one facet after the other over the same sample."""

    seen: Sequence[Seen]
    filters: Filters
    address: Address
    counted: bool

    def scopes(self, principal: Principal) -> Facet:
        there = {*readable_scopes(principal), PERSONAL}
        counts = Counter(row.scope for row in self._matching(scopes=None))
        words = [scope for scope in SCOPES if scope in there and (counts[scope] or scope in _MAIN)]
        chosen = list(self.filters.scopes or ())
        labels = {scope: scope_words(scope).label for scope in SCOPES}
        return self._several("scope", "Scope", "memory", words, chosen, counts, labels)

    def kinds(self) -> Facet:
        counts = Counter(row.kind for row in self._matching(kinds=()))
        words = [kind for kind in ALL_KINDS if counts[kind] or kind in self.filters.kinds]
        return self._several("kind", "Kind", "note", words, list(self.filters.kinds), counts, {})

    def tags(self) -> Facet:
        counts = Counter(tag for row in self._matching(tags=()) for tag in row.tags)
        words = _first(counts, self.filters.tags)
        facet = self._several("tag", "Tag", "tag", words, list(self.filters.tags), counts, {})
        return replace(facet, typed=True, kept=self.address.values)

    def domains(self) -> Facet:
        counts = Counter(row.domain for row in self._matching(domain=None) if row.domain)
        return self._one("domain", "Domain", "parts", self.filters.domain, counts)

    def agents(self) -> Facet:
        counts = Counter(row.agent for row in self._matching(agent=None) if row.agent)
        return self._one("agent", "Agent", "code", self.filters.agent, counts)

    def times(self) -> Facet:
        now = timezone.localtime()
        spans = (("Today", 0), ("Last 7 days", 7), ("Last 30 days", 30), ("Last year", 365))
        options = []
        for label, days in spans:
            since = (now - timedelta(days=days)).date().isoformat()
            on = self.address.values_of("since") == [since] and not self.address.values_of("until")
            link = self.address.without("since", "until")
            url = link if on else link.with_value("since", since)
            options.append(Option(label, str(url), on))
        dates = tuple("".join(self.address.values_of(name)[:1])[:10] for name in ("since", "until"))
        chosen = next((option.label for option in options if option.on), _span(*dates))
        rest = self.address.without("since", "until")
        return Facet(
            "time", "Time", "clock", chosen, tuple(options), str(rest), kept=rest.values,
            dates=(dates[0], dates[1]),
        )  # fmt: skip

    def history(self) -> Option:
        on = self.filters.include_history
        bare = self.address.without("include_history")
        return Option(
            "History", str(bare if on else bare.with_value("include_history", "true")), on
        )

    def _several(
        self,
        name: str,
        label: str,
        icon: str,
        words: Iterable[str],
        chosen: list[str],
        counts: Counter[str],
        labels: dict[str, str],
    ) -> Facet:
        address = self.address
        options = tuple(
            Option(
                labels.get(word, word), str(address.toggled(name, word)), word in chosen,
                self._count(counts, word),
            )
            for word in words
        )  # fmt: skip
        said = ", ".join(labels.get(word, word) for word in chosen)
        return Facet(name, label, icon, said, options, str(address.without(name)))

    def _one(
        self, name: str, label: str, icon: str, chosen: str | None, counts: Counter[str]
    ) -> Facet:
        bare = self.address.without(name)
        options = tuple(
            Option(
                word, str(bare if word == chosen else bare.with_value(name, word)),
                word == chosen, self._count(counts, word),
            )
            for word in _first(counts, [chosen] if chosen else [])
        )  # fmt: skip
        return Facet(
            name, label, icon, chosen or "", options, str(bare), typed=True, kept=bare.values
        )

    def _count(self, counts: Counter[str], word: str) -> int | None:
        return counts[word] if self.counted else None

    def _matching(self, **lifted: object) -> list[Seen]:
        """Return the sample under every filter but the lifted one."""
        wanted = replace(self.filters, **lifted)  # type: ignore[arg-type]
        return [row for row in self.seen if _holds(row, wanted)]


_MAIN = ("personal", "agent_notes", "global")


def _holds(row: Seen, wanted: Filters) -> bool:
    return (
        (wanted.scopes is None or row.scope in wanted.scopes)
        and (not wanted.kinds or row.kind in wanted.kinds)
        and (wanted.domain is None or row.domain == wanted.domain)
        and (wanted.agent is None or row.agent == wanted.agent)
        and row.tags.issuperset(wanted.tags)
    )


def _first(counts: Counter[str], chosen: Iterable[str]) -> list[str]:
    """Return what is chosen, then the most frequent."""
    common = [word for word, _ in sorted(counts.items(), key=lambda row: (-row[1], row[0]))]
    return list(dict.fromkeys([*chosen, *common[:SHOWN]]))


def _span(since: str, until: str) -> str:
    if since and until:
        return f"{since} to {until}"
    return f"since {since}" if since else f"before {until}" if until else ""
