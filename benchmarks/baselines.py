"""What the product is measured against: plain FTS5, and the vectors alone."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.store import Corpus

if TYPE_CHECKING:
    import uuid

_WORD = re.compile(r"\w+")
# Function and question words, as in the published measurements of the keyword baseline.
_FUNCTION_WORDS = """
    a about after all also am an and any are as at be been before being but by can could did do
    does doing during each for from had has have having he her here hers him his how i if in into
    is it its just me more most my no nor not of off on once only or other our out over own s same
    she should so some such t than that the their them then there these they this those through to
    too under until up very was we were what when where which while who whom whose why will with
    would you your
"""
_STOP = frozenset(_FUNCTION_WORDS.split())
_TOKENIZER = "porter unicode61 remove_diacritics 2"


class PlainFts5:
    """FTS5 with porter stems, an OR of the query's words, stop words out, bm25 order."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self._labels = [label for label, _ in documents]
        self._db = sqlite3.connect(":memory:")
        self._db.execute(f"CREATE VIRTUAL TABLE d USING fts5(body, tokenize='{_TOKENIZER}')")
        rows = enumerate(text for _, text in documents)
        self._db.executemany("INSERT INTO d(rowid, body) VALUES (?, ?)", rows)

    def ranking(self, query: str, limit: int) -> list[str]:
        """Return the labels of the best documents."""
        words = list(dict.fromkeys(word.lower() for word in _WORD.findall(query)))
        kept = [word for word in words if word not in _STOP] or words
        if not kept:
            return []
        match = " OR ".join(f'"{word}"' for word in kept)
        sql = "SELECT rowid FROM d WHERE d MATCH ? ORDER BY bm25(d) LIMIT ?"
        return [self._labels[row[0]] for row in self._db.execute(sql, (match, limit))]


def by_vector(corpus: Corpus, query: str, limit: int) -> list[str]:
    """Return the labels of the nearest records, by cosine alone."""
    from memory import providers
    from memory.filters import Filters
    from memory.models import MemoryChunk
    from memory.search import backends
    from memory.search.candidates import reach_of

    provider = providers.current()
    if provider is None:
        return []
    reach = reach_of(corpus.principal, Filters())
    near = backends.current().by_vector(provider.query(query), provider.model, reach, limit)
    ids = [found.chunk for found in near]
    owners = dict(MemoryChunk.objects.filter(pk__in=ids).values_list("pk", "memory_id"))
    records: list[uuid.UUID] = list(dict.fromkeys(owners[chunk] for chunk in ids))
    return corpus.ranking(records)
