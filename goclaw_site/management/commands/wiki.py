"""`goclaw wiki …`."""

from goclaw_site.parts import PartsCommand
from wiki.commands import SUBCOMMANDS


class Command(PartsCommand):
    """Pages: import, export, distill, clean up."""

    help = "Import, export, distill and clean up the wiki."
    parts = SUBCOMMANDS
