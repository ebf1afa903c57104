"""Faults planted into the keyword index, whatever the database keeps it in."""

from django.db import connection

from memory.models import MemoryChunk
from tests import databases

_LOST = 99999


def sql(statement: str, *params) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


def count() -> int:
    table = "memory_chunks_terms" if _on_postgres() else "memory_chunks_fts_docsize"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0]


def holding(term: str) -> int:
    """How many rows the index itself has for a term."""
    condition, wanted = "memory_chunks_fts WHERE memory_chunks_fts MATCH %s", f'"{term}"'
    if _on_postgres():
        condition, wanted = "memory_chunks_terms WHERE terms @@ %s::tsquery", f"'{term}'"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {condition}", [wanted])
        return cursor.fetchone()[0]


def remove(row: MemoryChunk) -> None:
    if _on_postgres():
        sql("DELETE FROM memory_chunks_terms WHERE chunk = %s", row.pk)
        return
    sql(
        "INSERT INTO memory_chunks_fts(memory_chunks_fts, rowid, search_text, access)"
        " VALUES ('delete', %s, %s, %s)",
        row.pk,
        row.search_text,
        row.access,
    )


def leave_one_over() -> None:
    _put(_LOST, "a", "b")


def replace(row: MemoryChunk, terms: str = "", access: str = "") -> None:
    remove(row)
    _put(row.pk, terms or row.search_text, access or row.access)


def _put(chunk: int, terms: str, access: str) -> None:
    if _on_postgres():
        sql(
            "INSERT INTO memory_chunks_terms VALUES (%s, 1, array_to_tsvector(%s))",
            chunk,
            sorted({*terms.split(), "@" + access}),
        )
        return
    sql(
        "INSERT INTO memory_chunks_fts(rowid, search_text, access) VALUES (%s, %s, %s)",
        chunk,
        terms,
        access,
    )


def damage_the_database() -> None:
    """What the database's own check finds: a value that its column forbids, or half an index."""
    if _on_postgres():
        half = "indexrelid = 'memory_chunks_scope'::regclass"
        sql(f"UPDATE pg_index SET indisvalid = false WHERE {half}")
        return
    sql("PRAGMA ignore_check_constraints = ON")
    sql("UPDATE memory_chunks SET position = -1 WHERE id = (SELECT max(id) FROM memory_chunks)")
    sql("PRAGMA ignore_check_constraints = OFF")


def _on_postgres() -> bool:
    return databases.chosen() == "postgres"
