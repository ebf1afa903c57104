"""The numbers of a ranking, put together for one result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory.search import evidence, ranking
from memory.search.constants import NAMED, QUESTION, RANKS, SOURCE, WHOLE, Fit
from memory.search.types import Explanation, Query


class Explainer:
    """Explains the candidates of one query; what is the same for all is computed once."""

    def __init__(
        self,
        signals: ranking.Signals,
        verdicts: Sequence[str],
        query: Query,
        fit: Fit,
        depth: int,
    ) -> None:
        self._signals = signals
        self._verdicts = verdicts
        self._query = query
        self._fit = fit
        self._depth = depth

    @cached_property
    def _keyword_ranks(self) -> NDArray[np.int32]:
        strength = self._signals.words.strength
        return ranking.ranks(np.where(strength > 0, strength, np.nan), self._depth)

    @cached_property
    def _vector_ranks(self) -> NDArray[np.int32]:
        return ranking.ranks(self._signals.cosine, self._depth)

    @cached_property
    def _confidence(self) -> float | None:
        return evidence.confidence(self._signals, self._fit)

    def of(self, at: int, total: float, decay: float, age_days: float) -> Explanation:
        """Return the explanation of one candidate."""
        signals = self._signals
        return Explanation(
            keyword_rank=int(self._keyword_ranks[at]) or None,
            vector_rank=int(self._vector_ranks[at]) or None,
            similarity=_known(signals.cosine[at]),
            matched_terms=int(signals.words.matched[at]),
            query_terms=len(self._query.terms),
            evidence=self._verdicts[at],
            confidence=self._confidence,
            signals={
                "keyword": float(signals.words.strength[at]),
                "coverage": float(signals.words.coverage[at]),
                "window_keyword": float(signals.window_words[at]),
                "window_similarity": _known(signals.window_cosine[at]),
                "named": bool(signals.named[at]),
                "question": bool(signals.question[at]),
            },
            weights={
                "neighbourhood": round(float(signals.context[at]), 4),
                "named": NAMED,
                "question": QUESTION,
                "whole": WHOLE,
                "source": SOURCE,
                "ranks": RANKS,
            },
            decay=decay,
            age_days=age_days,
            total=total,
        )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
