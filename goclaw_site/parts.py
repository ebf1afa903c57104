"""A command with parts, such as `goclaw memory search`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from agents.principals import for_command
from goclaw_site import databases, firststart
from goclaw_site.config import extra_variable
from memory import audit
from memory.backups import waiting
from memory.commands.base import Call, Subcommand


class PartsCommand(BaseCommand):
    """Builds one parser for each part; every part can print JSON and name who asks."""

    parts: ClassVar[tuple[Subcommand, ...]] = ()
    requires_system_checks = []
    #: Whether `--key` and the key of the environment say who asks.
    takes_key: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the parts."""
        choices = parser.add_subparsers(
            dest="part", required=True, metavar="PART", parser_class=CommandParser
        )
        for part in self.parts:
            inner = choices.add_parser(part.name, help=part.help, description=part.help)
            part.arguments(inner)
            inner.add_argument("--json", action="store_true", help="print JSON")
            inner.add_argument("--user", help="act as this person")
            if self.takes_key:
                inner.add_argument("--key", help="act with this key (or GOCLAW_API_KEY)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one part and leave with its status."""
        prepare_database()
        part = next(part for part in self.parts if part.name == options["part"])
        status = part.run(Call(self._principal(options), Namespace(**options)))
        if status:
            sys.exit(status)

    def _principal(self, options: dict[str, Any]) -> Any:
        if not self.takes_key:
            return for_command(None, None)
        key = options.get("key") or extra_variable("GOCLAW_API_KEY")
        return for_command(options.get("user"), key)


def prepare_database() -> None:
    """Make the tables where there are none yet, and refuse a database of a newer version."""
    from django.core.management import call_command

    databases.verify()
    waiting.load()
    if "memories" not in connection.introspection.table_names():
        with databases.exclusive():
            call_command("migrate", verbosity=0, interactive=False)
    firststart.refuse_newer_database()
    audit.tell()
