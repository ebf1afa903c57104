"""`memory clear-user`: delete every personal record of one person."""

from __future__ import annotations

from argparse import ArgumentParser

from django.contrib.auth.models import User

from goclaw_site.errors import InvalidInput
from memory import backups, ownership
from memory.access import require_administrator
from memory.commands.base import Call, Subcommand, agreed
from memory.drafts import check_text


def arguments(parser: ArgumentParser) -> None:
    """`--user` says who asks, so the person is named without it."""
    parser.add_argument("person", metavar="USER", help="whose personal records")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(call: Call) -> int:
    """Back up, delete, and say how many: never what they said. 1 where there was nothing."""
    require_administrator(call.principal)
    person = _person(call.options.person)
    count = ownership.count(person.pk)
    if not count:
        return _done(call, person, 0, "")
    question = f"Delete all {count:,} personal records of {person.get_username()}?"
    if not agreed(call, question):
        return 1
    copy = backups.back_up()
    gone = ownership.clear(call.principal, person.pk)
    return _done(call, person, gone, str(copy or ""))


def _done(call: Call, person: User, gone: int, copy: str) -> int:
    if call.as_json:
        call.answer({"user": person.get_username(), "deleted": gone, "backup": copy or None})
    noun = "record" if gone == 1 else "records"
    call.say(f"Deleted {gone:,} personal {noun} of {person.get_username()}.")
    if gone:
        call.say(f"Backup: {copy or 'none: this database system has its own tools'}")
    return 0 if gone else 1


def _person(name: str) -> User:
    check_text("USER", name)
    person = User.objects.filter(username=name).first()
    if person is None:
        raise InvalidInput(f"There is no person named '{name[:60]}'.", field="USER")
    return person


COMMAND = Subcommand("clear-user", "delete every personal record of a person", run, arguments)
