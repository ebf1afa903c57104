"""`memory ingest`: files, folders, JSON lines and chat logs into records."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from goclaw_site.errors import GoclawError
from memory import ingesting, write
from memory.access import Principal
from memory.commands.base import Call, Subcommand
from memory.drafts import Draft, Source
from memory.ingesting import Item
from memory.vocabulary import AGENT_NOTES, PERSONAL

_AT_ONCE = 100
_SHOWN_FAULTS = 20
_COUNTED = ("created", "existing", "amended", "skipped", "failed")


@dataclass
class Report:
    """What became of the items."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, str]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)

    def fault(self, where: str, reason: str) -> None:
        """Note an item that was not written."""
        self.counts["failed"] += 1
        self.faults.append({"where": where, "reason": reason})

    def skip(self, where: str, reason: str) -> None:
        """Note what was left out on purpose: no failure."""
        self.counts["skipped"] += 1
        self.skipped.append({"where": where, "reason": reason})


def arguments(parser: ArgumentParser) -> None:
    """Declare what `ingest` takes."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--scope", help="default: personal with a person, else agent_notes")
    parser.add_argument("--kind", default="note")
    parser.add_argument("--domain", default="")
    parser.add_argument("--tag", action="append", default=[])


def run(call: Call) -> int:
    """Write every item; a bad one stops no other. 1 where any failed."""
    report = Report()
    with call.progress() as bar:
        task = bar.add_task("ingesting", total=None)
        for path in call.options.paths:
            for batch in _batches(path, report):
                _write(call, batch, report)
                bar.update(task, advance=len(batch))
    answer(call, report)
    return 1 if report.counts["failed"] else 0


def _batches(path: Path, report: Report) -> Iterator[list[Item]]:
    def items() -> Iterator[Item]:
        for found in ingesting.read(path):
            if isinstance(found, Item):
                yield found
            elif found.skipped:
                report.skip(found.where, found.reason)
            else:
                report.fault(found.where, found.reason)

    stream = items()
    while batch := list(islice(stream, _AT_ONCE)):
        yield batch


def _write(call: Call, batch: list[Item], report: Report) -> None:
    drafts = [_draft(call, item) for item in batch]
    written = write.remember_many(call.principal, drafts)
    for item, result in zip(batch, written, strict=True):
        place = f"{item.source_id}#{item.position}"
        if isinstance(result, GoclawError):
            report.fault(place, result.message)
            continue
        report.counts[result.outcome] += 1
        report.results.append(
            {"source": place, "id": str(result.memory.pk), "outcome": result.outcome}
        )


def _draft(call: Call, item: Item) -> Draft:
    given = call.options
    return Draft(
        content=item.content,
        scope=given.scope or _default_scope(call.principal),
        kind=item.kind or given.kind,
        domain=item.domain or given.domain,
        tags=tuple(dict.fromkeys((*item.tags, *given.tag))),
        metadata=item.metadata,
        source=Source(item.source_kind, item.source_id, item.position),
        index_prefix=item.index_prefix,
        occurred_at=item.occurred_at,
        expires_at=getattr(item, "expires_at", None),
    )


def _default_scope(principal: Principal) -> str:
    return PERSONAL if principal.person is not None else AGENT_NOTES


def answer(call: Call, report: Report) -> None:
    """Print what became of the items."""
    counts = {name: report.counts[name] for name in _COUNTED}
    if call.as_json:
        notes = {"faults": report.faults, "skipped_places": report.skipped}
        call.answer({**counts, "results": report.results, **notes})
        return
    call.say(", ".join(f"{count:,} {name}" for name, count in counts.items()))
    for note in report.skipped[:_SHOWN_FAULTS]:
        call.say(f"  {note['where']}: {note['reason']}")
    for fault in report.faults[:_SHOWN_FAULTS]:
        call.say(f"  {fault['where']}: {fault['reason']}")
    if len(report.faults) > _SHOWN_FAULTS:
        call.say(f"  and {len(report.faults) - _SHOWN_FAULTS:,} more; --json lists them all")


COMMAND = Subcommand("ingest", "read files, folders, JSON lines and chat logs", run, arguments)
