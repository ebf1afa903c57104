"""The keyword index: a table of its own beside `memory_chunks`, kept by triggers."""

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


# A narrow table, so that a scan over what many chunks hold does not read their texts. Terms are
# parted by spaces alone and taken as they are; the access token stands among them behind a sign
# that no term holds. No foreign key: a test's TRUNCATE must not need the other table.
POSTGRES = (
    "CREATE TABLE memory_chunks_terms (chunk bigint PRIMARY KEY, length integer NOT NULL,"
    " terms tsvector NOT NULL) WITH (toast_tuple_target = 8160)",
    "CREATE INDEX memory_chunks_terms_gin ON memory_chunks_terms USING gin (terms)"
    " WITH (gin_pending_list_limit = 256)",
    # Rows are found by common words too: the planner has to know more of them.
    "ALTER TABLE memory_chunks_terms ALTER terms SET STATISTICS 300",
    """CREATE FUNCTION memory_chunks_put_terms() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE words text[] := string_to_array(new.search_text, ' ');
    BEGIN
        IF new.search_text = '' THEN
            DELETE FROM memory_chunks_terms WHERE chunk = new.id;
        ELSE
            INSERT INTO memory_chunks_terms (chunk, length, terms) VALUES (new.id,
                cardinality(words), array_to_tsvector(array_append(words, '@' || new.access)))
            ON CONFLICT (chunk) DO UPDATE SET length = excluded.length, terms = excluded.terms;
        END IF;
        RETURN NULL;
    END $$""",
    """CREATE FUNCTION memory_chunks_take_terms() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            DELETE FROM memory_chunks_terms;
        ELSE
            DELETE FROM memory_chunks_terms WHERE chunk = old.id;
        END IF;
        RETURN NULL;
    END $$""",
    "CREATE TRIGGER memory_chunks_terms_put AFTER INSERT OR UPDATE OF search_text, access"
    " ON memory_chunks FOR EACH ROW EXECUTE FUNCTION memory_chunks_put_terms()",
    "CREATE TRIGGER memory_chunks_terms_take AFTER DELETE ON memory_chunks"
    " FOR EACH ROW EXECUTE FUNCTION memory_chunks_take_terms()",
    "CREATE TRIGGER memory_chunks_terms_empty AFTER TRUNCATE ON memory_chunks"
    " FOR EACH STATEMENT EXECUTE FUNCTION memory_chunks_take_terms()",
    # Beside the row, not behind a pointer: an exact scan reads thousands of vectors.
    "ALTER TABLE memory_chunks ALTER embedding SET STORAGE MAIN",
    # Answers how large a scope is without reading its rows.
    "CREATE INDEX memory_chunks_scope ON memory_chunks (embedding_model, access)",
)
POSTGRES_BACK = (
    "DROP INDEX IF EXISTS memory_chunks_scope",
    *(f"DROP TRIGGER IF EXISTS memory_chunks_terms_{name} ON memory_chunks"
      for name in ("put", "take", "empty")),
    "DROP FUNCTION IF EXISTS memory_chunks_put_terms",
    "DROP FUNCTION IF EXISTS memory_chunks_take_terms",
    "DROP TABLE IF EXISTS memory_chunks_terms",
)


def create(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        _execute(schema_editor, POSTGRES)
    if schema_editor.connection.vendor != "sqlite":
        return
    for table, column in TABLES:
        _execute(schema_editor, _create(table, column))


def drop(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        _execute(schema_editor, POSTGRES_BACK)
    if schema_editor.connection.vendor != "sqlite":
        return
    for table, _ in TABLES:
        for kind in ("insert", "delete", "change", "empty", "fill"):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{kind}")
        schema_editor.execute(f"DROP TABLE IF EXISTS {table}")


def _execute(schema_editor: Any, statements: Any) -> None:
    for statement in statements:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
