"""`goclaw audit`."""

from argparse import ArgumentParser, Namespace
from typing import Any

from django.core.management.base import BaseCommand

from agents.principals import for_command
from goclaw_site.config import extra_variable
from goclaw_site.parts import prepare_database
from memory.commands import audit
from memory.commands.base import Call


class Command(BaseCommand):
    """Who did what, when, through which door."""

    help = "Show the audit trail."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The same names as the other commands have."""
        audit.arguments(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--key", help="act with this key (or GOCLAW_API_KEY)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Without a key an administrator asks."""
        prepare_database()
        key = options["key"] or extra_variable("GOCLAW_API_KEY")
        audit.run(Call(for_command(None, key), Namespace(**options)))
