"""What `memory check` asks of SQLite: its own check of the file, and of the FTS5 table."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError, connection

from memory.models import MemoryChunk


def keyword_rows() -> Any:
    """Return the chunks that the FTS5 table lacks or has too many of."""
    table, column = "memory_chunks_fts", "search_text"
    yield from _docsize_differs(table, column)
    if broken := _fts_fault(table):
        yield f"{table}: {broken}"
    else:
        yield from _other_terms(table, column)


def _docsize_differs(table: str, column: str) -> list[Any]:
    wanted = f"SELECT id FROM memory_chunks WHERE {column} <> ''"  # noqa: S608  our own names
    held = f"SELECT id FROM {table}_docsize"  # noqa: S608
    sql = f"SELECT id FROM ({wanted} EXCEPT {held}) UNION SELECT id FROM ({held} EXCEPT {wanted})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [row[0] for row in cursor.fetchall()]


def _fts_fault(table: str) -> str:
    """Ask FTS5 whether its index agrees with itself; it raises where it does not."""
    try:
        with connection.cursor() as cursor:
            ask = f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 0)"  # noqa: S608
            cursor.execute(ask)
    except DatabaseError as error:
        return str(error)
    return ""


def _other_terms(table: str, column: str) -> Any:
    """Chunks under other terms or another token than the row has: stale text, or a leak.

    FTS5's own comparison counts the chunks without terms, which are left out on purpose.
    """
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS temp.indexed_terms")
        vocabulary = f"fts5vocab(main, {table}, instance)"
        cursor.execute(f"CREATE VIRTUAL TABLE temp.indexed_terms USING {vocabulary}")
        cursor.execute(
            "SELECT doc, group_concat(col || ' ' || term, char(10))"
            " FROM temp.indexed_terms GROUP BY doc"
        )
        while rows := cursor.fetchmany(400):
            yield from _unlike_their_rows(dict(rows), column)
        cursor.execute("DROP TABLE temp.indexed_terms")


def _unlike_their_rows(indexed: dict[int, str], column: str) -> Any:
    rows = MemoryChunk.objects.filter(pk__in=list(indexed)).values_list("pk", column, "access")
    for pk, text, access in rows:
        wanted = [f"{column} {term}" for term in text.split()]
        wanted += [f"access {access}"] if access else []
        if sorted(wanted) != sorted(indexed[pk].split("\n")):
            yield pk


def damages() -> Any:
    """Return what SQLite's own check of the file finds."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check")
        yield from (row[0] for row in cursor.fetchall() if row[0] != "ok")


def rebuild_keyword_rows() -> None:
    """Empty the FTS5 table and fill it from the chunks that have terms."""
    table, fields = "memory_chunks_fts", "search_text, access"
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table}({table}) VALUES ('delete-all')")  # noqa: S608
        cursor.execute(
            f"INSERT INTO {table}(rowid, {fields}) SELECT id, {fields}"  # noqa: S608
            " FROM memory_chunks WHERE search_text <> ''"
        )
