"""What `memory check` asks of PostgreSQL: whole indexes, and keyword rows like their chunks."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection

# The same terms as the trigger makes of a chunk, compared where both lie.
_UNLIKE = """
    SELECT coalesce(c.id, t.chunk)
    FROM (SELECT * FROM memory_chunks WHERE search_text <> '') AS c
    FULL JOIN memory_chunks_terms AS t ON t.chunk = c.id
    WHERE c.id IS NULL OR t.chunk IS NULL
       OR t.terms <> array_to_tsvector(
              array_append(string_to_array(c.search_text, ' '), '@' || c.access))
    ORDER BY 1
"""
# An index that is being made is not whole either.
_INVALID = """
    SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index WHERE index_relid = indexrelid)
"""


def invalid_indexes() -> list[str]:
    """Return the names of indexes that were left half-made."""
    with connection.cursor() as cursor:
        cursor.execute(_INVALID)
        return [row[0] for row in cursor.fetchall()]


def keyword_rows() -> Iterator[int]:
    """Return the chunks under other terms, or another token, than their row has."""
    with connection.cursor() as cursor:
        cursor.execute(_UNLIKE)
        while rows := cursor.fetchmany(400):
            yield from (row[0] for row in rows)


def rebuild_keyword_rows() -> None:
    """Empty the table of terms; the trigger fills it from each chunk."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memory_chunks_terms")
        cursor.execute("UPDATE memory_chunks SET access = access WHERE search_text <> ''")
