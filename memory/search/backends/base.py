"""The role of a search backend: candidates, already filtered, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.filters import Filters
from memory.search.types import TextStatistics
from memory.vectors import FloatMatrix, FloatVector


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


class SearchBackend(Protocol):
    """Four questions that every driver answers alike (tests/contract)."""

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
