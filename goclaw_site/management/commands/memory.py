"""`goclaw memory …`."""

from goclaw_site.parts import PartsCommand
from memory.commands import SUBCOMMANDS


class Command(PartsCommand):
    """Records: write, find, index, check."""

    help = "Write, find, ingest, index and check records."
    parts = SUBCOMMANDS
