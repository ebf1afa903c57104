"""`wiki gc`: remove files that no page has any more."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict

from memory.commands.base import Call, Subcommand, agreed
from wiki import cleaning

_SHOWN = 20


def arguments(parser: ArgumentParser) -> None:
    """Declare what `gc` takes."""
    parser.add_argument("--dry-run", action="store_true", help="only tell what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(call: Call) -> int:
    """Tell what would go, ask, and remove it."""
    found = cleaning.clean(call.principal, dry=True)
    count = len(found.rows) + len(found.strays)
    for name in (*found.rows, *found.strays)[:_SHOWN]:
        call.say(f"  {name}")
    if count > _SHOWN:
        call.say(f"  and {count - _SHOWN:,} more")
    if count and not call.options.dry_run:
        question = f"Delete {count:,} files ({found.size / 1024**2:,.1f} MiB) for good?"
        if not agreed(call, question):
            call.say("Nothing was deleted.")
            return 1
        found = cleaning.clean(call.principal)
    if call.as_json:
        call.answer({**asdict(found), "dry_run": call.options.dry_run})
    call.say(_words(call.options.dry_run, len(found.rows) + len(found.strays), found.size))
    return 0


def _words(dry: bool, count: int, size: int) -> str:
    if not count:
        return "Every file belongs to a page."
    return f"{count:,} files, {size / 1024**2:,.1f} MiB {'would go' if dry else 'deleted'}."


COMMAND = Subcommand("gc", "remove files that no page has any more", run, arguments)
