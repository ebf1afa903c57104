"""`goclaw providers …`."""

from goclaw_site.parts import PartsCommand
from memory.commands.providers import SUBCOMMANDS


class Command(PartsCommand):
    """The providers of embeddings and chat models."""

    help = "Try the embedding provider and the chat models."
    parts = SUBCOMMANDS
