"""`memory clear`: delete the records of a scope, or of all."""

from __future__ import annotations

from argparse import ArgumentParser

from memory import backups, clearing
from memory.access import require_administrator
from memory.commands.base import Call, Subcommand, agreed
from memory.snapshots import tables
from memory.vocabulary import PERSONAL


def arguments(parser: ArgumentParser) -> None:
    """Declare what `clear` takes."""
    parser.add_argument("--scope", help="only this scope; without it, all but copies of pages")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(call: Call) -> int:
    """Say what would go, ask, back up, delete. 1 where there was nothing, or the answer was no."""
    require_administrator(call.principal)
    scope = call.options.scope
    counts = clearing.counts(scope)
    if not counts:
        return _done(call, {}, 0, "")
    call.say(f"This would delete {_listed(counts, scope)}.")
    if not agreed(call, f"Delete these {sum(counts.values()):,} records for good?"):
        return 1
    copy = backups.back_up()
    with call.progress() as bars:
        task = bars.add_task("deleting")
        gone = clearing.clear_scope(
            call.principal,
            scope,
            lambda done, total: bars.update(task, completed=done, total=total),
        )
    return _done(call, counts, gone, str(copy or ""))


def _listed(counts: dict[str, int], scope: str | None) -> str:
    parts = [f"{name} {count:,}" for name, count in counts.items()]
    people = clearing.people(scope)
    of = f" (personal records of {people:,} people among them)" if counts.get(PERSONAL) else ""
    return ", ".join(parts) + of


def _done(call: Call, counts: dict[str, int], gone: int, copy: str) -> int:
    if call.as_json:
        call.answer({"deleted": gone, "by_scope": counts, "backup": copy or None})
    deleted = tables.counted("memory.Memory", gone)
    call.say(f"Deleted {deleted}." if gone else "There was nothing to delete.")
    if gone:
        call.say(f"Backup: {copy or 'none: this database system has its own tools'}")
    return 0 if gone else 1


COMMAND = Subcommand("clear", "delete the records of a scope, or of all", run, arguments)
