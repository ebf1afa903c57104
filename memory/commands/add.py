"""`memory add`: write one record."""

from __future__ import annotations

from argparse import ArgumentParser

from memory import write
from memory.api.records import written_body
from memory.commands.base import Call, Subcommand
from memory.drafts import Draft
from memory.filters import parse_time
from memory.vocabulary import AGENT_NOTES, PERSONAL


def arguments(parser: ArgumentParser) -> None:
    """Declare what `add` takes."""
    parser.add_argument("text", help="what to remember")
    parser.add_argument("--scope", help="default: personal with --user or a key, else agent_notes")
    parser.add_argument("--kind", default="note")
    parser.add_argument("--domain", default="")
    parser.add_argument("--tag", action="append", default=[], help="may be given several times")
    parser.add_argument("--expires", help="time after which it is forgotten, ISO 8601")


def run(call: Call) -> int:
    """Write the record and say what happened."""
    given = call.options
    personal = call.principal.person is not None
    draft = Draft(
        content=given.text,
        scope=given.scope or (PERSONAL if personal else AGENT_NOTES),
        kind=given.kind,
        domain=given.domain,
        tags=tuple(given.tag),
        expires_at=parse_time("expires", given.expires) if given.expires else None,
    )
    written = write.remember(call.principal, draft)
    if call.as_json:
        call.answer(written_body(written))
    words = "Remembered" if written.created else "There already"
    call.say(f"{words}: {written.memory.pk} ({written.memory.scope})")
    for pk in written.superseded:
        call.say(f"It takes the place of {pk}; 'memory revisions undo {pk}' brings that back.")
    return 0


COMMAND = Subcommand("add", "write one record", run, arguments)
