"""`goclaw secrets …`: works without the database and with a configuration that is not whole."""

import getpass
import json
import sys
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from goclaw_site import untold
from goclaw_site.config import named_secrets, state_dir, vault
from goclaw_site.errors import ConfigError, InvalidInput, NotFound, Refused
from goclaw_site.vault import MAX_VALUE_BYTES, check_name


class Command(BaseCommand):
    """Secrets that the configuration names as `${secret:NAME}`."""

    help = "Put secrets into the vault, list their names, take them out."
    requires_system_checks = []
    #: Django's runner sets this and we do without it: wrong usage then says so, and ends with 2.
    _called_from_command_line = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """A value is never an argument: other people on the machine can read those."""
        parts = parser.add_subparsers(
            dest="part", required=True, metavar="PART", parser_class=CommandParser
        )
        texts = {
            "set": "put or replace one; its value is asked for, or read from standard input",
            "list": "names, dates, and which keys of the configuration use them",
            "rm": "take one out",
        }
        inner = {
            name: parts.add_parser(name, help=text, description=text)
            for name, text in texts.items()
        }
        for name in ("set", "rm"):
            inner[name].add_argument("name", metavar="NAME")
        inner["rm"].add_argument("--yes", action="store_true", help="do not ask")
        for one in inner.values():
            one.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one part."""
        {"set": _set, "list": _list, "rm": _remove}[options["part"]](options)


def _set(options: dict[str, Any]) -> None:
    name = options["name"]
    check_name(name)
    is_new = vault().set(name, _asked(name))
    untold.note(state_dir(), "secret.set", f"secret:{name}")
    done = "is in the vault" if is_new else "has a new value"
    _say(options, {"name": name, "new": is_new}, f"{name} {done}. It counts from the next start.")


def _list(options: dict[str, Any]) -> None:
    changed = {entry.name: entry.changed for entry in vault().names()}
    named = _named()
    missing = {name for names in named.values() for name in names} - set(changed)
    rows = [_row(name, changed.get(name), named) for name in [*changed, *sorted(missing)]]
    _say(options, rows, "\n".join(map(_line, rows)) or "The vault is empty.")


def _row(name: str, changed: datetime | None, named: dict[str, list[str]]) -> dict[str, Any]:
    when = changed.isoformat(timespec="seconds") if changed else None
    return {"name": name, "changed": when, "used_by": _users(named, name)}


def _remove(options: dict[str, Any]) -> None:
    name = options["name"]
    if name not in {entry.name for entry in vault().names()}:
        raise NotFound(f"The vault has no secret {name!r}. `goclaw secrets list` shows the names.")
    users = _users(_named(), name)
    warning = f" {', '.join(users)} uses it: the server will not start without it." if users else ""
    if not _agreed(options, f"Take {name} out of the vault? It cannot be brought back.{warning}"):
        print("Nothing was changed.")
        sys.exit(1)
    vault().remove(name)
    untold.note(state_dir(), "secret.remove", f"secret:{name}")
    _say(options, {"name": name, "removed": True}, f"{name} is out of the vault.")


def _asked(name: str) -> str:
    """From a terminal without echo, twice; else all of standard input, without its last newline."""
    if not sys.stdin.isatty():
        given = sys.stdin.buffer.read(MAX_VALUE_BYTES + 3)
        try:
            return given.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise InvalidInput("The value is not UTF-8 text. Encode it, as Base64 say.") from None
    first = getpass.getpass(f"Value of {name} (not shown): ")
    if first != getpass.getpass("The same again: "):
        raise InvalidInput("The two are not the same. Nothing was changed.")
    return first


def _agreed(options: dict[str, Any], question: str) -> bool:
    if options["yes"]:
        return True
    if options["json"] or not sys.stdin.isatty():
        raise Refused(f"{question} Nobody is here to ask: --yes says so beforehand.")
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _named() -> dict[str, list[str]]:
    """A configuration that cannot be read names nothing, and keeps nobody from the vault."""
    try:
        return named_secrets(state_dir())
    except ConfigError as error:
        print(f"goclaw: {error.message} Which keys use a secret is not known.", file=sys.stderr)
        return {}


def _users(named: dict[str, list[str]], name: str) -> list[str]:
    return [key for key, names in named.items() if name in names]


def _line(row: dict[str, Any]) -> str:
    state = row["changed"] or f"MISSING: goclaw secrets set {row['name']}"
    used = f"  used by {', '.join(row['used_by'])}" if row["used_by"] else ""
    return f"{row['name']:<24} {state}{used}"


def _say(options: dict[str, Any], value: Any, text: str) -> None:
    print(json.dumps(value, indent=2) if options["json"] else text)
