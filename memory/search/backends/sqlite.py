"""Search on SQLite: FTS5 for keywords, an exact scan of the process's matrix for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from memory.chunks import batches
from memory.filters import narrowing
from memory.models import Memory, MemoryChunk
from memory.search.backends import sqlitefaults
from memory.search.backends.base import COUNT_CAP, Progress, Reach, Similar
from memory.search.matrix import best, matrix_of, rows_as_floats
from memory.search.types import TextStatistics
from memory.text import MAX_QUERY_TERMS
from memory.vectors import FloatMatrix, FloatVector

_TABLE = "memory_chunks_fts"


class SqliteBackend:
    """The embedded driver. Terms are only ever bound as quoted phrases of a bound query."""

    name = "sqlite"
    #: Exact search in memory stays right up to about here; past it PostgreSQL is the better home.
    advised_chunks: int | None = 250_000

    def by_text(self, terms: Sequence[str], reach: Reach, limit: int) -> list[int]:
        if not terms or not reach.tokens:
            return []
        inside, params = _narrowed(reach)
        sql = (
            f"SELECT rowid FROM {_TABLE} WHERE {_TABLE} MATCH %s AND rank MATCH 'bm25(1.0, 0.0)'"  # noqa: S608
            f"{inside} ORDER BY rank LIMIT %s"
        )
        return [row[0] for row in _rows(sql, [_match(terms, reach), *params, limit])]

    def by_vector(self, vector: FloatVector, model: str, reach: Reach, limit: int) -> list[Similar]:
        matrix = matrix_of(model)
        snapshot = matrix.snapshot()
        rows = snapshot.rows_of(matrix.codes_of(reach.tokens), _allowed(reach))
        if not len(rows) or snapshot.levels.shape[1] != len(vector):
            return []
        cosines = snapshot.cosines(vector, rows)
        top = best(cosines, limit)
        found = zip(snapshot.ids[rows[top]], cosines[top], strict=True)
        return [Similar(int(chunk), float(cosine)) for chunk, cosine in found]

    def vectors(
        self, model: str, reach: Reach, chunks: Sequence[int]
    ) -> tuple[list[int], FloatMatrix]:
        matrix = matrix_of(model)
        snapshot = matrix.snapshot()
        wanted = np.array(sorted(set(chunks)), np.int64)
        rows = snapshot.rows_of(matrix.codes_of(reach.tokens), wanted)
        return [int(chunk) for chunk in snapshot.ids[rows]], rows_as_floats(snapshot, rows)

    def statistics(self, terms: Sequence[str], reach: Reach) -> TextStatistics:
        if not terms or not reach.tokens:
            return TextStatistics(0, {})
        holding = _holding(terms, reach)
        tokens = sorted(reach.tokens)
        total = MemoryChunk.objects.filter(access__in=tokens).count()
        return TextStatistics(total, holding)

    def wants_index(self, model: str) -> bool:
        return False

    def build_index(self, model: str, deadline: float) -> Progress:
        return Progress(0, 0, finished=True)

    def rows_came(self) -> None:
        """FTS5 counts for each query."""

    def stored_bytes(self) -> int:
        path = Path(connection.settings_dict["NAME"])
        files = [path.with_name(path.name + end) for end in ("", "-wal")]
        return sum(file.stat().st_size for file in files if file.exists())

    def database_faults(self) -> Any:
        return sqlitefaults.damages()

    def keyword_faults(self) -> Any:
        return sqlitefaults.keyword_rows()

    def rebuild_keywords(self) -> None:
        sqlitefaults.rebuild_keyword_rows()


def _match(terms: Sequence[str], reach: Reach) -> str:
    """Return the FTS5 query: any of the terms, within what the caller may see."""
    access = " OR ".join(_quoted(token) for token in sorted(reach.tokens))
    wanted = " OR ".join(_quoted(term) for term in terms)
    return f"{{search_text}} : ({wanted}) AND {{access}} : ({access})"


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""').replace("\x00", "") + '"'


def _holding(terms: Sequence[str], reach: Reach) -> dict[str, int]:
    """Return how many chunks hold each term, in one statement."""
    distinct = list(dict.fromkeys(terms))
    one = (
        "(SELECT count(*) FROM (SELECT 1 FROM memory_chunks_fts"
        " WHERE memory_chunks_fts MATCH %s LIMIT %s))"
    )
    holding: dict[str, int] = {}
    for some in batches(distinct, MAX_QUERY_TERMS):
        sql = f"SELECT {', '.join([one] * len(some))}"
        params = [value for term in some for value in (_match([term], reach), COUNT_CAP)]
        holding.update(zip(some, _rows(sql, params)[0], strict=True))
    return holding


def _narrowed(reach: Reach) -> tuple[str, list[Any]]:
    """Return the filters that the index does not know as a condition on the row id."""
    if not reach.filters.narrowing:
        return "", []
    sql, params = _chunk_ids(reach).query.sql_with_params()
    return f" AND rowid IN ({sql})", list(params)


def _allowed(reach: Reach) -> NDArray[np.int64] | None:
    if not reach.filters.narrowing:
        return None
    return np.fromiter(_chunk_ids(reach).iterator(), np.int64)


def _chunk_ids(reach: Reach) -> Any:
    inside = Memory.objects.filter(narrowing(reach.filters)).values("pk")
    chunks = MemoryChunk.objects.filter(access__in=sorted(reach.tokens), memory__in=inside)
    return chunks.values_list("pk", flat=True)


def _rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())
