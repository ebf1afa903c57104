"""The keyword index on SQLite: an FTS5 table over `memory_chunks`, kept by triggers."""

from __future__ import annotations

from typing import Any

from django.db import migrations

# Every non-ASCII character is a token character and terms are parted by spaces alone, so that our
# normaliser decides what a term is, whatever Unicode version SQLite was built with.
TOKENIZER = "ascii tokenchars ''._-:/''"
TABLES = (("memory_chunks_fts", "search_text"),)


def _create(table: str, column: str) -> list[str]:
    fields = f"rowid, {column}, access"
    put = f"INSERT INTO {table}({fields}) VALUES (new.id, new.{column}, new.access);"
    take = (
        f"INSERT INTO {table}({table}, {fields})"
        f" VALUES ('delete', old.id, old.{column}, old.access);"
    )
    held, holds = f"old.{column} <> ''", f"new.{column} <> ''"
    # SQLite does not say in which order triggers of one event run: each case has exactly one.
    changes = {
        "insert": ("INSERT", holds, put),
        "delete": ("DELETE", held, take),
        "change": (f"UPDATE OF {column}, access", f"{held} AND {holds}", take + put),
        "empty": (f"UPDATE OF {column}, access", f"{held} AND NOT {holds}", take),
        "fill": (f"UPDATE OF {column}, access", f"NOT {held} AND {holds}", put),
    }
    triggers = [
        f"CREATE TRIGGER {table}_{name} AFTER {event} ON memory_chunks"
        f" WHEN {when} BEGIN {action} END"
        for name, (event, when, action) in changes.items()
    ]
    return [
        f"CREATE VIRTUAL TABLE {table} USING fts5({column}, access, content='memory_chunks',"
        f" content_rowid='id', tokenize='{TOKENIZER}')",
        *triggers,
    ]


def create(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor != "sqlite":
        return
    for table, column in TABLES:
        for statement in _create(table, column):
            schema_editor.execute(statement)


def drop(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor != "sqlite":
        return
    for table, _ in TABLES:
        for kind in ("insert", "delete", "change", "empty", "fill"):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{kind}")
        schema_editor.execute(f"DROP TABLE IF EXISTS {table}")


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
