"""BM25 over candidates: one definition on every driver, counted over what the caller may see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.search.constants import K1, B

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Lexical:
    """For each text, all 0 to 1: BM25 as a share of its ceiling, weighted and plain coverage."""

    strength: Array
    coverage: Array
    matched: NDArray[np.int32]


def inverse_frequencies(total: int, holding: Mapping[str, int]) -> dict[str, float]:
    """Return ln(1 + (N - n + .5) / (n + .5)) for each term: positive, whatever the counts.

    A term that nobody has keeps the highest weight: that it is unknown is evidence.
    """
    return {
        term: math.log(1 + (max(total, n) - n + 0.5) / (n + 0.5)) for term, n in holding.items()
    }


def lexical(weights: Mapping[str, float], texts: Sequence[Sequence[str]]) -> Lexical:
    """Score texts (their terms, with repeats) against a query's distinct terms with their weights.

    strength = Σ w · n / (n + K1 · (1 - B + B · length / average)) ÷ Σ w. Divided by what an endless
    repetition of every term would earn, not by the query's best hit: so scores of different queries
    compare, and one weak hit is not blown up to 1. The average is that of the texts given, so that
    nothing else moves a score.
    """
    total = sum(weights.values())
    asked = frozenset(weights).__contains__
    strength = np.zeros(len(texts), dtype=np.float32)
    coverage = np.zeros(len(texts), dtype=np.float32)
    matched = np.zeros(len(texts), dtype=np.int32)
    if total > 0:
        average = max(sum(map(len, texts)) / max(len(texts), 1), 1.0)
        for at, terms in enumerate(texts):
            # One pass, whatever the number of terms: this is most of a ranking's time.
            counts = Counter(filter(asked, terms))
            damp = K1 * (1 - B + B * len(terms) / average)
            strength[at] = sum(weights[t] * n / (n + damp) for t, n in counts.items()) / total
            coverage[at] = sum(weights[t] for t in counts) / total
            matched[at] = len(counts)
    return Lexical(strength, coverage, matched)
