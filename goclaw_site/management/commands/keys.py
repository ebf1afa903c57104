"""`goclaw keys …`."""

from agents.commands import SUBCOMMANDS
from goclaw_site.parts import PartsCommand


class Command(PartsCommand):
    """Keys for agents and scripts."""

    help = "Make, list and revoke API keys."
    parts = SUBCOMMANDS
    takes_key = False
