"""The catalog: agents' notes and configuration as one JSON document, out and in again.

No backup: live, verified records that people or agents wrote, without history. The same catalog
gives the same bytes, and importing it twice changes nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from goclaw_site.errors import GoclawError, InvalidInput, Refused, TooLarge
from memory import audit, write
from memory.access import Principal, administers, require_administrator
from memory.catalogrows import FORMAT, SCOPES, VERSION, Row, read_row, row_of
from memory.models import Memory, MemorySource
from memory.vocabulary import KINDS, UNVERIFIED
from memory.write import content_hash

MOST_ROWS = 200_000
_AT_ONCE = 200

CREATED, UNCHANGED, CONFLICTING, BAD = "created", "unchanged", "conflicting", "bad"
OUTCOMES = (CREATED, UNCHANGED, CONFLICTING, BAD)

Progress = Callable[[int, int], None]


@dataclass
class Outcome:
    """What became of one row; counted from 1 as people do."""

    row: int
    outcome: str
    id: str | None = None
    reason: str = ""


@dataclass
class Report:
    """What an import did, row by row; `written` is false for a rehearsal and where rows are bad."""

    written: bool
    dry_run: bool
    results: list[Outcome] = field(default_factory=list)
    superseded: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many rows had each outcome."""
        found = Counter(result.outcome for result in self.results)
        return {outcome: found[outcome] for outcome in OUTCOMES}


def records() -> QuerySet[Memory]:
    """Return what a catalog holds, in its order."""
    lasting = Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())
    return (
        Memory.objects.filter(lasting, scope__in=SCOPES, kind__in=KINDS, live_key__isnull=False)
        .exclude(tags__tag=UNVERIFIED)
        .order_by("scope", "created_at", "pk")
        .prefetch_related("tags", "sources")
    )


def export(principal: Principal) -> Iterator[str]:
    """Yield the document in pieces. Raise Refused before the first one."""
    if not administers(principal):
        raise Refused("The catalog is for administrators.")
    audit.record(principal, "catalog.export", count=records().count())
    return _pieces()


def _pieces() -> Iterator[str]:
    yield f'{{"format": "{FORMAT}", "version": {VERSION}, "records": ['
    first = True
    for record in records().iterator(_AT_ONCE):
        yield ("\n" if first else ",\n") + json.dumps(row_of(record), ensure_ascii=False)
        first = False
    yield "\n]}\n"


def load(
    principal: Principal,
    document: Any,
    *,
    dry_run: bool = False,
    skip_bad: bool = False,
    most: int = MOST_ROWS,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Write the rows that are new; what is here already is never changed.

    Every row is looked at first. Where one is bad nothing is written, unless `skip_bad` is given.
    Raises Refused, InvalidInput, TooLarge.
    """
    require_administrator(principal)
    rows = _rows(document, most)
    report = Report(written=False, dry_run=dry_run)
    drafts = list(_judged(rows, report))
    bad = report.counts[BAD]
    if dry_run or (bad and not skip_bad):
        return report
    report.written = True
    for start in range(0, len(drafts), _AT_ONCE):
        _write(principal, drafts[start : start + _AT_ONCE], report)
        progress(min(start + _AT_ONCE, len(drafts)), len(drafts))
    counts = report.counts
    audit.record(
        principal, "catalog.import", created=counts[CREATED], unchanged=counts[UNCHANGED],
        conflicting=counts[CONFLICTING], bad=counts[BAD],
    )  # fmt: skip
    return report


def _rows(document: Any, most: int) -> list[Any]:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise InvalidInput(f"This is not a catalog: its format must be '{FORMAT}'.", field="format")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise InvalidInput("The catalog's version must be a whole number.", field="version")
    if version > VERSION:
        raise InvalidInput(
            f"The catalog has version {version} and this server reads up to {VERSION}: "
            "upgrade first. Nothing was changed.",
            field="version",
        )
    rows = document.get("records")
    if not isinstance(rows, list):
        raise InvalidInput("The catalog's records must be a list.", field="records")
    if len(rows) > most:
        raise TooLarge(
            f"The catalog has {len(rows):,} records; the limit is {most:,}. "
            "`goclaw memory import` on the server takes more.",
            field="records",
        )
    return rows


def _judged(rows: Sequence[Any], report: Report) -> Iterator[tuple[Outcome, Row]]:
    """Decide about every row; yield those that are to be written."""
    seen: dict[Any, int] = {}
    for start in range(0, len(rows), _AT_ONCE):
        batch = rows[start : start + _AT_ONCE]
        read = [_read(number, row) for number, row in enumerate(batch, start + 1)]
        here = _Here([row for _, row in read if row is not None])
        for outcome, row in read:
            report.results.append(outcome)
            if row is None or _is_double(outcome, row, seen):
                continue
            here.judge(outcome, row)
            if outcome.outcome == CREATED:
                yield outcome, row


def _is_double(outcome: Outcome, row: Row, seen: dict[Any, int]) -> bool:
    """The second of two equal rows, or of two from one place, would change the first."""
    for mark, what in ((row.key, "the same text"), (row.place, "the same source")):
        first = seen.setdefault(mark, outcome.row) if mark else outcome.row
        if first != outcome.row:
            outcome.outcome, outcome.reason = BAD, f"{what} as row {first}"
            return True
    return False


def _read(number: int, row: Any) -> tuple[Outcome, Row | None]:
    try:
        return Outcome(number, CREATED), read_row(row)
    except GoclawError as error:
        where = f"{error.field}: " if error.field and error.field not in error.message else ""
        return Outcome(number, BAD, reason=f"{where}{error.message}"), None


class _Here:
    """What this installation has of some rows, read in a few queries."""

    def __init__(self, rows: Sequence[Row]) -> None:
        found = Memory.objects.filter(live_key__in=[row.key for row in rows])
        self._twins = {record.live_key: record for record in found.prefetch_related("tags")}
        ids = [row.id for row in rows if row.id is not None]
        named = Memory.objects.filter(pk__in=ids, scope__in=SCOPES)
        self._named = {record.pk: record for record in named}
        self._places = _held_places(rows)
        self._replaced = _replaced(rows)

    def judge(self, outcome: Outcome, row: Row) -> None:
        """Say whether the row is new, there already, or against what is here."""
        twin = self._twins.get(row.key)
        named = self._named.get(row.id) if row.id else None
        if twin is not None:
            outcome.id = str(twin.pk)
            differing = row.differences(twin)
            outcome.outcome = CONFLICTING if differing else UNCHANGED
            if differing:
                outcome.reason = f"the record here has another {', '.join(differing)}"
        elif named is not None:
            outcome.id, outcome.outcome = str(named.pk), CONFLICTING
            here = "has another text" if named.live_key else "was replaced or has ended"
            outcome.reason = f"the record of this id {here} here"
        elif (row.draft.scope, row.draft.kind, content_hash(row.draft.content)) in self._replaced:
            outcome.outcome, outcome.reason = (
                CONFLICTING,
                "this text was replaced or has ended here",
            )
        elif row.place in self._places:
            outcome.outcome = CONFLICTING
            outcome.reason = "another text from the same source is here"


def _held_places(rows: Sequence[Row]) -> set[Any]:
    """Return which places of the rows are taken here."""
    wanted = {row.place for row in rows if row.place is not None}
    held = MemorySource.objects.filter(source_id__in={place[2] for place in wanted})
    return wanted & set(held.values_list("access", "kind", "source_id", "position"))


def _replaced(rows: Sequence[Row]) -> set[tuple[str, str, str]]:
    """Return which texts are here and no longer live: an import does not bring them back."""
    hashes = {content_hash(row.draft.content) for row in rows}
    ended = Memory.objects.filter(
        scope__in=SCOPES, kind__in=KINDS, content_hash__in=hashes, live_key__isnull=True
    )
    return set(ended.values_list("scope", "kind", "content_hash"))


def _write(principal: Principal, drafts: Sequence[tuple[Outcome, Row]], report: Report) -> None:
    results = write.remember_many(principal, [row.draft for _, row in drafts])
    for (outcome, _), result in zip(drafts, results, strict=True):
        if isinstance(result, GoclawError):
            outcome.outcome, outcome.reason = BAD, result.message
            continue
        outcome.id = str(result.memory.pk)
        outcome.outcome = CREATED if result.created else UNCHANGED
        report.superseded += len(result.superseded)


def parse(raw: bytes | str) -> Any:
    """Return the document of a file. Raise InvalidInput with the place of the fault."""
    try:
        return json.loads(raw)
    except UnicodeDecodeError:
        raise InvalidInput("The catalog is not UTF-8 text. Nothing was changed.") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"The catalog is not JSON: {error.msg} in line {error.lineno}. Nothing was changed."
        ) from None
    except (ValueError, RecursionError):
        raise InvalidInput("The catalog is not JSON. Nothing was changed.") from None
