"""`goclaw migrate`: Django's, with a backup before a database that holds data is changed."""

from typing import Any

from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.loader import MigrationLoader

from memory import backups


class Command(migrate.Command):
    """`goclaw up` calls it too, so that no way to a newer schema goes without a backup."""

    help = "Bring the database to this version's tables, after a backup."

    def handle(self, *args: Any, **options: Any) -> None:
        """A backup that fails stops everything; the database is untouched then."""
        only_looks = options["plan"] or options["check_unapplied"]
        if options["database"] == DEFAULT_DB_ALIAS and not only_looks:
            _back_up_first(options)
        super().handle(*args, **options)


def _back_up_first(options: dict[str, Any]) -> None:
    loader = MigrationLoader(connection)
    applied = set(loader.applied_migrations or {})
    pending = set(loader.disk_migrations or {}) - applied
    if not applied or not (pending or options["app_label"]):
        return
    copy = backups.back_up()
    if copy is None:
        print(f"No backup was made: {connection.vendor} has its own tools.", flush=True)
        return
    print(
        f"The database is brought to this version ({len(pending)} steps). Backup: {copy}",
        flush=True,
    )
