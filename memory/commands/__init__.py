"""The parts of `goclaw memory` and of `goclaw db`: one module each, listed here."""

from memory.commands import (
    add,
    backup,
    catalog_export,
    catalog_import,
    check,
    clear,
    clear_user,
    consolidate,
    db_export,
    db_import,
    dedupe,
    forget,
    ingest,
    migrate,
    reindex,
    revise,
    revisions,
    search,
    stats,
)
from memory.commands.base import Subcommand

SUBCOMMANDS: tuple[Subcommand, ...] = (
    add.COMMAND,
    search.COMMAND,
    ingest.COMMAND,
    stats.COMMAND,
    catalog_export.COMMAND,
    catalog_import.COMMAND,
    reindex.COMMAND,
    dedupe.COMMAND,
    consolidate.COMMAND,
    check.COMMAND,
    migrate.COMMAND,
    forget.COMMAND,
    clear.COMMAND,
    clear_user.COMMAND,
    revise.COMMAND,
    revisions.COMMAND,
)

#: The parts of `goclaw db`; `restore` stands in goclaw_site, for it runs without Django.
DATABASE_PARTS: tuple[Subcommand, ...] = (
    backup.COMMAND,
    db_export.COMMAND,
    db_import.COMMAND,
)
