"""The parts of `goclaw memory`: one module each, listed here."""

from memory.commands import add, check, clear_user, forget, ingest, reindex, search, stats
from memory.commands.base import Subcommand

SUBCOMMANDS: tuple[Subcommand, ...] = (
    add.COMMAND,
    search.COMMAND,
    ingest.COMMAND,
    stats.COMMAND,
    reindex.COMMAND,
    check.COMMAND,
    forget.COMMAND,
    clear_user.COMMAND,
)
