"""Search on PostgreSQL: a GIN index over our own terms, pgvector for meaning.

Terms are only ever bound as data. The tokens of the reach stand in the condition of every
statement, beside the terms and beside the vectors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db import connection

from memory.fields import as_text
from memory.filters import narrowing
from memory.models import Memory, MemoryChunk
from memory.search.backends import postgresfaults, postgresindex, postgresterms
from memory.search.backends.base import COUNT_CAP, Progress, Reach, Similar
from memory.search.types import TextStatistics
from memory.vectors import FloatMatrix, FloatVector

#: A scope of so many vectors is compared one by one: exact, and faster than an index's detours.
EXACT_UP_TO = 20_000
#: An index of half floats orders a little beyond what is wanted; whole floats order it again.
_SPARE = 20
#: Seconds for which a large scope counts as large without being counted again.
_REMEMBERED = 60.0
_MOST_REMEMBERED = 1000
_HEADER_BYTES = 4


class PostgresBackend:
    """Exact over what is small, an index with strict iterative scan over what is large."""

    name = "postgresql"
    advised_chunks: int | None = None

    def __init__(self) -> None:
        self._large: dict[tuple[str, str, frozenset[str]], float] = {}

    def by_text(self, terms: Sequence[str], reach: Reach, limit: int) -> list[int]:
        return postgresterms.best(terms, reach.tokens, _narrowed(reach, "chunk"), limit)

    def by_vector(self, vector: FloatVector, model: str, reach: Reach, limit: int) -> list[Similar]:
        if not reach.tokens:
            return []
        if self._is_large(model, reach, len(vector)):
            found = _by_index(vector, model, reach, limit)
            if len(found) == limit:
                return found
        return _exact(vector, model, reach, limit)

    def vectors(
        self, model: str, reach: Reach, chunks: Sequence[int]
    ) -> tuple[list[int], FloatMatrix]:
        rows = _rows(
            "SELECT id, vector_send(embedding) FROM memory_chunks WHERE id = ANY(%s)"
            " AND embedding_model = %s AND access = ANY(%s) ORDER BY id",
            [sorted(set(chunks)), model, sorted(reach.tokens)],
        )
        widest = max((len(row[1]) for row in rows), default=_HEADER_BYTES)
        rows = [row for row in rows if len(row[1]) == widest]
        raw = b"".join(bytes(row[1])[_HEADER_BYTES:] for row in rows)
        matrix: FloatMatrix = np.frombuffer(raw, dtype=">f4").astype(np.float32)
        return [row[0] for row in rows], matrix.reshape(len(rows), -1 if rows else 0)

    def statistics(self, terms: Sequence[str], reach: Reach) -> TextStatistics:
        if not terms or not reach.tokens:
            return TextStatistics(0, {})
        holding = postgresterms.counts(terms, reach.tokens, COUNT_CAP)
        total = MemoryChunk.objects.filter(access__in=sorted(reach.tokens)).count()
        return TextStatistics(total, holding)

    def wants_index(self, model: str) -> bool:
        return postgresindex.missing(model, EXACT_UP_TO)

    def build_index(self, model: str, deadline: float) -> Progress:
        return postgresindex.build(model, deadline)

    def rows_came(self) -> None:
        with connection.cursor() as cursor:
            for table in ("memory_chunks_terms", "memory_chunks", "memories"):
                cursor.execute(f"ANALYZE {table}")

    def stored_bytes(self) -> int:
        return int(_rows("SELECT pg_database_size(current_database())", [])[0][0])

    def database_faults(self) -> list[str]:
        return postgresfaults.invalid_indexes()

    def keyword_faults(self) -> Any:
        return postgresfaults.keyword_rows()

    def rebuild_keywords(self) -> None:
        postgresfaults.rebuild_keyword_rows()

    def _is_large(self, model: str, reach: Reach, dimensions: int) -> bool:
        """Whether an index is to be asked: it exists, and the scope is past the exact scan."""
        if not postgresindex.ready(model, dimensions):
            return False
        key = (str(connection.settings_dict["NAME"]), model, reach.tokens)
        remembers = not reach.filters.narrowing
        if remembers and self._large.get(key, 0.0) > time.monotonic():
            return True
        where, params = _scope(model, reach, dimensions)
        sql = f"SELECT count(*) FROM (SELECT 1 FROM memory_chunks WHERE {where} LIMIT %s) AS held"
        large = bool(_rows(sql, [*params, EXACT_UP_TO + 1])[0][0] > EXACT_UP_TO)
        if large and remembers:
            if len(self._large) > _MOST_REMEMBERED:
                self._large.clear()
            self._large[key] = time.monotonic() + _REMEMBERED
        return large


def _exact(vector: FloatVector, model: str, reach: Reach, limit: int) -> list[Similar]:
    """Compare every vector of the scope; the index of half floats cannot be meant here.

    By the inner product, as ranking and the other drivers do: a vector that came from int8 is not
    quite of length one.
    """
    where, params = _scope(model, reach, len(vector))
    sql = (
        "WITH near AS MATERIALIZED (SELECT id, -(embedding <#> %s::vector) AS cosine"
        f" FROM memory_chunks WHERE {where})"
        " SELECT id, cosine FROM near ORDER BY cosine DESC, id DESC LIMIT %s"
    )
    return _similar(_rows(sql, [as_text(vector), *params, limit]))


def _by_index(vector: FloatVector, model: str, reach: Reach, limit: int) -> list[Similar]:
    where, params = _scope(model, reach, len(vector))
    half = f"halfvec({len(vector)})"
    text = as_text(vector)
    sql = (
        "SELECT id, -(embedding <#> %s::vector) AS cosine FROM (SELECT id, embedding"
        f" FROM memory_chunks WHERE {where}"
        f" ORDER BY embedding::{half} <=> %s::{half} LIMIT %s) AS near"
        " ORDER BY cosine DESC, id DESC LIMIT %s"
    )
    return _similar(_rows(sql, [text, *params, text, limit + _SPARE, limit]))


def _scope(model: str, reach: Reach, dimensions: int) -> tuple[str, list[Any]]:
    inside, params = _narrowed(reach, "id")
    where = "embedding_model = %s AND embedding_dim = %s AND access = ANY(%s)" + inside
    return where, [model, dimensions, sorted(reach.tokens), *params]


def _narrowed(reach: Reach, column: str) -> tuple[str, list[Any]]:
    """Return the filters that the indexes do not know, as a condition on the chunk's id."""
    if not reach.filters.narrowing:
        return "", []
    inside = Memory.objects.filter(narrowing(reach.filters)).values("pk")
    chunks = MemoryChunk.objects.filter(access__in=sorted(reach.tokens), memory__in=inside)
    sql, params = chunks.values_list("pk", flat=True).query.sql_with_params()
    return f" AND {column} IN ({sql})", list(params)


def _similar(rows: Sequence[tuple[Any, ...]]) -> list[Similar]:
    return [Similar(int(chunk), float(cosine)) for chunk, cosine in rows]


def _rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())
