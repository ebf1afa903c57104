"""The role of a search backend: candidates, already filtered, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memory.filters import Filters
from memory.search.types import TextStatistics
from memory.vectors import FloatMatrix, FloatVector

#: Counting stops here: a term in more chunks than this weighs next to nothing.
COUNT_CAP = 20_000


@dataclass(frozen=True)
class Reach:
    """What a query may touch: access tokens, and filters that the index does not know by itself.

    A backend that cannot apply a filter returns no rows, never unfiltered ones.
    """

    tokens: frozenset[str]
    filters: Filters


@dataclass(frozen=True)
class Similar:
    """One chunk and its cosine to the query."""

    chunk: int
    cosine: float


@dataclass(frozen=True)
class Progress:
    """How far the building of an index is, in whatever units the database counts."""

    done: int
    total: int
    finished: bool


class SearchBackend(Protocol):
    """Four questions that every driver answers alike (tests/contract), and its own upkeep.

    `advised_chunks` is how many chunks it serves well; None: no limit is known.
    """

    name: str
    advised_chunks: int | None

    def by_text(self, terms: Sequence[str], reach: Reach, limit: int) -> list[int]:
        """Return the ids of up to `limit` chunks that hold any of the terms, the best first."""

    def by_vector(self, vector: FloatVector, model: str, reach: Reach, limit: int) -> list[Similar]:
        """Return the `limit` chunks nearest to the unit vector, the nearest first."""

    def vectors(
        self, model: str, reach: Reach, chunks: Sequence[int]
    ) -> tuple[list[int], FloatMatrix]:
        """Return those of the chunks that have a vector of the model, and their vectors."""

    def statistics(self, terms: Sequence[str], reach: Reach) -> TextStatistics:
        """Count chunks over the tokens of the reach: in all, and for each term (up to a cap)."""

    def wants_index(self, model: str) -> bool:
        """Whether an index over the model's vectors would pay, and is not there."""

    def build_index(self, model: str, deadline: float) -> Progress:
        """Build that index, or go on with it, until the deadline (monotonic seconds)."""

    def rows_came(self) -> None:
        """Learn anew how common terms are, after many rows came at once."""

    def stored_bytes(self) -> int:
        """Return how much room the database takes."""

    def database_faults(self) -> Iterable[Any]:
        """Return what the database itself finds wrong with itself."""

    def keyword_faults(self) -> Iterable[Any]:
        """Return the chunks that the keyword index lacks, or holds with other terms."""

    def rebuild_keywords(self) -> None:
        """Fill the keyword index again from the chunks. Call inside a transaction."""
