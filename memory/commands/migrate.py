"""`memory migrate`: older layouts of our own, and what other memories kept, into this one."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from goclaw_site.errors import GoclawError, InvalidInput
from memory import backups, write
from memory.access import Principal, require_administrator, require_change
from memory.commands.base import Call, Subcommand
from memory.commands.ingest import Report, answer
from memory.drafts import Draft, Source
from memory.ingesting import Fault, Item
from memory.ingesting.mem0 import read_export
from memory.ingesting.openclaw import is_workspace, read_workspace
from memory.vocabulary import AGENT_NOTES, PERSONAL

_AT_ONCE = 100


def arguments(parser: ArgumentParser) -> None:
    """Declare what `migrate` takes."""
    parser.add_argument(
        "source", nargs="?", type=Path, metavar="SOURCE",
        help="a folder with MEMORY.md or memory/*.md, or an export of mem0 (JSON)",
    )  # fmt: skip
    parser.add_argument("--scope", help="default: personal with a person, else agent_notes")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")


def run(call: Call) -> int:
    """Without a source the database is brought to this version; with one its items are written."""
    if call.options.source is None:
        return _own_layout(call)
    return _foreign(call, call.options.source.expanduser())


def _own_layout(call: Call) -> int:
    require_administrator(call.principal)
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    steps = [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
    if steps and not call.options.dry_run:
        # It copies the database before it changes a table.
        call_command("migrate", verbosity=0, interactive=False)
    if call.as_json:
        call.answer({"steps": steps, "dry_run": bool(call.options.dry_run)})
    elif not steps:
        call.say("The database has this version's tables: nothing to do.")
    else:
        done = "Would run" if call.options.dry_run else "Ran"
        call.say(f"{done} {len(steps)} steps: {', '.join(steps)}.")
    return 0


def _foreign(call: Call, source: Path) -> int:
    require_change(call.principal)
    report = Report()
    batches = _batches(call, source, report)
    first = next(batches, [])
    copy = backups.back_up() if first and not call.options.dry_run else None
    with call.progress() as bar:
        task = bar.add_task("migrating", total=None)
        for batch in (first, *batches):
            _write(call, batch, report)
            bar.update(task, advance=len(batch))
    if call.options.dry_run:
        call.say("A rehearsal, nothing was written. This would be done:")
    answer(call, report)
    if copy:
        call.say(f"Backup: {copy}")
    written = sum(report.counts[name] for name in ("created", "existing", "amended"))
    return 1 if report.counts["failed"] or not written else 0


def _batches(call: Call, source: Path, report: Report) -> Iterator[list[tuple[Principal, Draft]]]:
    def pairs() -> Iterator[tuple[Principal, Draft]]:
        for found in _read(call, source):
            if isinstance(found, Fault):
                (report.skip if found.skipped else report.fault)(found.where, found.reason)
            else:
                yield found

    stream = pairs()
    while batch := list(islice(stream, _AT_ONCE)):
        yield batch


def _read(call: Call, source: Path) -> Iterator[tuple[Principal, Draft] | Fault]:
    if source.is_dir():
        if not is_workspace(source):
            raise InvalidInput(
                f"{source} holds neither MEMORY.md nor memory/. "
                "`goclaw memory ingest` reads other folders.",
                field="SOURCE",
            )
        yield from _of_caller(call, read_workspace(source))
    elif source.is_file() and source.suffix.lower() == ".json":
        yield from _of_owners(call, source)
    else:
        raise InvalidInput(f"{source} is neither a folder nor a JSON file of mem0.", field="SOURCE")


def _of_caller(
    call: Call, items: Iterable[Item | Fault]
) -> Iterator[tuple[Principal, Draft] | Fault]:
    for found in items:
        yield found if isinstance(found, Fault) else (call.principal, _draft(call, found))


def _of_owners(call: Call, source: Path) -> Iterator[tuple[Principal, Draft] | Fault]:
    """What belongs to a person over there becomes that person's own here, or nobody's."""
    people: dict[str, Principal | None] = {}
    for found in read_export(source):
        if isinstance(found, Fault):
            yield found
        elif not found.owner or call.principal.person is not None or call.options.scope:
            yield call.principal, _draft(call, found.item)
        else:
            if found.owner not in people:
                people[found.owner] = _person(call, found.owner)
            owner = people[found.owner]
            if owner is None:
                yield Fault(
                    f"{source.name} {found.item.source_id}",
                    f"belongs to '{found.owner[:60]}', and nobody here has that name: "
                    "--user NAME takes it, --scope S shares it",
                )
            else:
                yield owner, replace(_draft(call, found.item), scope=PERSONAL)


def _person(call: Call, name: str) -> Principal | None:
    """The person's own place, written by an administrator; nothing of it is read."""
    require_administrator(call.principal)
    user = User.objects.filter(username=name).first()
    if user is None:
        return None
    return Principal(person=user.pk, name=name, door=call.principal.door, sees_personal=False)


def _draft(call: Call, item: Item) -> Draft:
    default = PERSONAL if call.principal.person is not None else AGENT_NOTES
    return Draft(
        content=item.content,
        scope=call.options.scope or default,
        metadata=item.metadata,
        source=Source(item.source_kind, item.source_id, item.position),
        index_prefix=item.index_prefix,
        occurred_at=item.occurred_at,
    )


def _write(call: Call, batch: list[tuple[Principal, Draft]], report: Report) -> None:
    """In a rehearsal everything is done and taken back."""
    if not call.options.dry_run:
        _put(batch, report)
        return
    with transaction.atomic():
        _put(batch, report)
        transaction.set_rollback(True)


def _put(batch: list[tuple[Principal, Draft]], report: Report) -> None:
    for principal, group in groupby(batch, key=lambda pair: pair[0]):
        drafts = [draft for _, draft in group]
        written = write.remember_many(principal, drafts)
        for draft, result in zip(drafts, written, strict=True):
            _note(draft, result, report)


def _note(draft: Draft, result: write.Written | GoclawError, report: Report) -> None:
    place = f"{draft.source.id}#{draft.source.position}" if draft.source else ""
    if isinstance(result, GoclawError):
        report.fault(place, result.message)
        return
    report.counts[result.outcome] += 1
    report.results.append({"source": place, "id": str(result.memory.pk), "outcome": result.outcome})


COMMAND = Subcommand("migrate", "bring older layouts and other memories here", run, arguments)
