"""`memory revisions`: what was decided about records, and how to take it back."""

from __future__ import annotations

import uuid
from argparse import ArgumentParser

from goclaw_site.errors import InvalidInput
from memory.api.revisions import decisions, undone_body
from memory.api.serializers import RevisionSerializer
from memory.beliefs import revisions
from memory.commands.base import Call, Subcommand
from memory.models import MemoryRevision
from memory.vocabulary import VIAS

_SHOWN = 50


def arguments(parser: ArgumentParser) -> None:
    """Declare what `revisions` takes."""
    parser.add_argument("act", nargs="?", choices=["undo"], help="take a decision back")
    parser.add_argument("memory_id", nargs="?", metavar="MEMORY-ID", help="the retired record")
    parser.add_argument("--run", help="only, or undo, the decisions of this run")
    parser.add_argument("--record", help="only decisions about this record")
    parser.add_argument("--via", choices=VIAS, help="only what was decided this way")
    parser.add_argument("--reason", default="", help="why it is undone")
    parser.add_argument("--limit", type=int, default=_SHOWN, help=f"the newest so many ({_SHOWN})")


def run(call: Call) -> int:
    """List decisions, or undo some; 1 where there was nothing left to undo."""
    if call.options.act == "undo":
        return _undo(call)
    given = {name: getattr(call.options, name) for name in ("run", "record", "via")}
    rows = list(decisions(call.principal, given)[: max(call.options.limit, 0)])
    if call.as_json:
        call.answer(RevisionSerializer(rows, many=True).data)
    for row in rows:
        call.say(line(row))
    if not rows:
        call.say("Nothing has been decided.")
    return 0


def _undo(call: Call) -> int:
    given = call.options
    if (given.memory_id is None) == (given.run is None):
        raise InvalidInput("Name the retired record, or a run with --run.", field="memory_id")
    if given.run is not None:
        done = revisions.undo_run(call.principal, _id(given.run), given.reason)
    else:
        done = revisions.undo_record(call.principal, _id(given.memory_id), given.reason)
    if call.as_json:
        call.answer(undone_body(done))
    call.say(done.sentence)
    return 0 if done.changed else 1


def _id(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise InvalidInput(f"'{text[:40]}' is not an id.", field="memory_id") from None


def line(row: MemoryRevision) -> str:
    """Return one decision as one line."""
    parts = (
        f"{row.created_at:%Y-%m-%dT%H:%M:%SZ}", row.decision, f"via {row.via}", str(row.old_id),
        f"because of {row.new_id}" if row.new_id and row.new_id != row.old_id else "",
        f"run {row.run_id}", row.reason, f"undone by {row.undone_by}" if row.undone_at else "",
    )  # fmt: skip
    return "  ".join(part for part in parts if part)


COMMAND = Subcommand("revisions", "what was decided about records; undo it", run, arguments)
