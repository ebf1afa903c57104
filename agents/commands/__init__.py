"""The parts of `goclaw keys`."""

from __future__ import annotations

from argparse import ArgumentParser

from django.utils import timezone

from agents import keys
from agents.models import ApiKey
from agents.principals import for_command, named
from goclaw_site.errors import InvalidInput
from memory.commands.base import Call, Subcommand
from memory.filters import parse_time


def _create_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--gateway", action="store_true", help="for the organisation; --user is then who makes it"
    )
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--expires", help="time or date, ISO 8601")
    parser.add_argument("--label", default="")


def _create(call: Call) -> int:
    given = call.options
    if not given.gateway and not given.user:
        raise InvalidInput(
            "--user names the key's owner; --gateway makes one without.", field="user"
        )
    # A gateway key has no owner: the person named is the administrator who answers for it.
    answering = for_command(given.user, None) if given.gateway and given.user else None
    made = keys.create(
        None if given.gateway else named(given.user),
        gateway=given.gateway,
        read_only=given.read_only,
        expires_at=parse_time("expires", given.expires) if given.expires else None,
        label=given.label,
        by=answering or call.principal,
    )
    if call.as_json:
        call.answer({"key": made.text, "prefix": made.key.prefix})
    call.say(f"{made.text}\n\nThis is shown once. `goclaw keys revoke {made.key.prefix}` ends it.")
    return 0


def _list(call: Call) -> int:
    rows = [_described(key) for key in ApiKey.objects.select_related("user")]
    if call.as_json:
        call.answer(rows)
        return 0
    for row in rows:
        limits = " read-only" if row["read_only"] else ""
        used = row["last_used_at"] or "never"
        call.say(f"{row['prefix']}  {row['state']:<8} {row['owner']}{limits}  last used {used}")
    if not rows:
        call.say("No keys. `goclaw keys create --user NAME` makes one.")
    return 0


def _described(key: ApiKey) -> dict[str, object]:
    return {
        "prefix": key.prefix,
        "owner": key.user.get_username() if key.user else "gateway",
        "label": key.label,
        "read_only": key.read_only,
        "state": key.state,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "last_used_at": key.last_used_at,
    }


def _revoke_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("prefix")


def _revoke(call: Call) -> int:
    key = keys.revoke(call.options.prefix, call.principal)
    if call.as_json:
        call.answer({"prefix": key.prefix, "state": key.state, "at": timezone.now()})
    call.say(f"Revoked {key.prefix}.")
    return 0


SUBCOMMANDS = (
    Subcommand("create", "make a key; it is printed once", _create, _create_arguments),
    Subcommand("list", "show the keys, never their text", _list),
    Subcommand("revoke", "end a key", _revoke, _revoke_arguments),
)
