"""`goclaw mcp`: the tools over standard input and output, for agents on this machine."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agents import contexts
from agents.principals import NO_CONTEXT
from goclaw_site.config import extra_variable
from goclaw_site.errors import Unauthorized
from goclaw_site.parts import prepare_database


class Command(BaseCommand):
    """Runs until standard input ends; nothing but the protocol goes to standard output."""

    help = "Serve the tools by MCP on standard input and output (GOCLAW_API_KEY names the key)."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The key is no argument: other people on the machine can read those."""
        parser.add_argument(
            "--context", help="JSON: agent, session, and what a gateway key may say"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Returns when the client goes."""
        # Late: it brings the SDK, which other commands do not need.
        from agents import mcp

        key = extra_variable("GOCLAW_API_KEY")
        if not key:
            raise Unauthorized("Set GOCLAW_API_KEY to a key: `goclaw keys create` makes one.")
        prepare_database()
        mcp.serve(key, _context(options["context"]))


def _context(text: str | None) -> contexts.CallContext:
    if text is None:
        return NO_CONTEXT
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return contexts.parse(value, "--context")
