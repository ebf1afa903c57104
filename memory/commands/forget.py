"""`memory forget`: delete one record by its id, or what a query finds."""

from __future__ import annotations

import uuid
from argparse import ArgumentParser

from goclaw_site.errors import GoclawError, NotFound
from memory import backups, ownership, queries
from memory.access import require_change
from memory.commands.base import Call, Subcommand, agreed
from memory.filters import Filters
from memory.search import SearchRequest, search
from memory.search.pipeline import MAX_RESULTS
from memory.snapshots import tables

_SHOWN = 20
_WIDTH = 80


def arguments(parser: ArgumentParser) -> None:
    """Declare what `forget` takes."""
    parser.add_argument("what", metavar="ID|QUERY", help="an id, or words to search for")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(call: Call) -> int:
    """Back up, delete, and say how many: never what they said. 1 where nothing went."""
    require_change(call.principal)
    ids = _found(call, call.options.what)
    if not ids:
        return _done(call, 0, 0, "")
    _show(call, ids)
    noun = "this record" if len(ids) == 1 else f"these {len(ids)} records"
    if not agreed(call, f"Delete {noun} for good?"):
        return 1
    copy = backups.back_up()
    gone = sum(_forget(call, memory_id) for memory_id in ids)
    return _done(call, gone, len(ids) - gone, str(copy or ""))


def _found(call: Call, what: str) -> list[uuid.UUID]:
    """A query matches what the caller may read: a count over all would tell of the rest."""
    try:
        return [uuid.UUID(what)]
    except ValueError:
        results = search(call.principal, SearchRequest(what, Filters(), max_results=MAX_RESULTS))
        return [hit.id for hit in results.hits]


def _show(call: Call, ids: list[uuid.UUID]) -> None:
    """The texts that the caller may read; of the others nothing but that one was named."""
    texts = queries.texts(call.principal, ids[:_SHOWN])
    call.say("This would delete:")
    for memory_id in ids[:_SHOWN]:
        call.say(f"  {memory_id}  {_opening(texts.get(memory_id))}")
    if len(ids) > _SHOWN:
        call.say(f"  and {len(ids) - _SHOWN:,} more")


def _opening(text: str | None) -> str:
    if text is None:
        return "(not yours to read, or not there)"
    line = " ".join(text[: _WIDTH * 2].split())
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]} …"


def _forget(call: Call, memory_id: uuid.UUID) -> bool:
    try:
        ownership.forget_by_id(call.principal, memory_id)
    except NotFound:
        return False
    except GoclawError as error:
        call.say(f"{memory_id}: {error.message}")
        return False
    return True


def _done(call: Call, gone: int, left: int, copy: str) -> int:
    if call.as_json:
        call.answer({"deleted": gone, "refused_or_missing": left, "backup": copy or None})
    rest = f"; {left:,} were refused or are not there" if left else ""
    call.say(f"Deleted {tables.counted('memory.Memory', gone)}{rest}.")
    if copy:
        call.say(f"Backup: {copy}")
    return 0 if gone and not left else 1


COMMAND = Subcommand("forget", "delete a record by id, or what a query finds", run, arguments)
