"""Measures of a ranking against the set of right answers; pure. k counts from the best."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from statistics import fmean
from typing import TypeVar

Document = TypeVar("Document", bound=Hashable)


def recall_at(k: int, ranking: Sequence[Document], gold: Collection[Document]) -> float:
    """The share of the right answers that is among the first k."""
    wanted = set(gold)
    if not wanted:
        raise ValueError("recall needs at least one right answer")
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def hit_at(k: int, ranking: Sequence[Document], gold: Collection[Document]) -> float:
    """1 where any of the first k is right, else 0."""
    return float(any(document in gold for document in ranking[:k]))


def reciprocal_rank(
    ranking: Sequence[Document], gold: Collection[Document], k: int | None = None
) -> float:
    """1 ÷ the rank of the first right answer, 0 where none is among the first k (None: at all)."""
    ranks = (rank for rank, document in enumerate(ranking[:k], 1) if document in gold)
    return 1 / next(ranks, float("inf"))


def mean(values: Iterable[float]) -> float:
    """The mean over all questions; 0 where there are none."""
    found = list(values)
    return fmean(found) if found else 0.0
