"""`goclaw db …`."""

from goclaw_site import restore
from goclaw_site.parts import PartsCommand
from memory.commands import DATABASE_PARTS
from memory.commands.base import Call, Subcommand


def _restore(call: Call) -> int:
    """From a terminal it runs without Django: see `goclaw_site.repairs`."""
    from django.db import connections

    connections.close_all()
    return restore.run(call.options)


class Command(PartsCommand):
    """The whole installation: copies, the way back, and the way to another database."""

    help = "Back up, restore, export and import everything."
    parts = (*DATABASE_PARTS, Subcommand("restore", restore.HELP, _restore, restore.arguments))
    takes_key = False
