"""From candidates to an order: signals, fusion, score, decay. Pure functions over arrays.

Arrays hold one entry a candidate. Every signal is computed for every candidate, also where another
list brought it up.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.search.constants import (
    DECAY_STEP,
    NAMED,
    NEUTRAL,
    OTHER_CONTEXT,
    QUESTION,
    RANKS,
    SCORE_MIDDLE,
    SCORE_WIDTH,
    SOURCE,
    TURN_CONTEXT,
    WHOLE,
    Fit,
)
from memory.search.lexical import Array, Lexical, lexical
from memory.search.types import Candidate, Mode

Mask = NDArray[np.bool_]
#: All of the query, in float32.
_ALL = 0.9999


@dataclass(frozen=True)
class Weights:
    """What an operator may set (`memory.search.*`)."""

    rrf_k: float = 10.0
    keyword: float = 1.0
    vector: float = 1.0
    neighbour: float = 1.0
    depth: int = 60


@dataclass(frozen=True)
class Signals:
    """What is known of the candidates. Cosines are NaN where there is no vector."""

    words: Lexical
    window_words: Array
    cosine: Array
    window_cosine: Array
    context: Array
    subject: Mask
    named: Mask
    question: Mask
    sources: Sequence[Hashable]


def measure(
    candidates: Sequence[Candidate], terms: Mapping[str, float], neighbour: float = 1.0
) -> Signals:
    """Return the signals of the candidates; `terms` are the query's with their idf."""
    asked = frozenset(terms)
    subject = np.array([bool(c.subject) for c in candidates], dtype=bool)
    share = np.where(subject, TURN_CONTEXT, OTHER_CONTEXT) * neighbour
    return Signals(
        words=lexical(terms, [c.terms for c in candidates]),
        window_words=lexical(terms, [c.window_terms for c in candidates]).strength,
        cosine=_floats([c.similarity for c in candidates]),
        window_cosine=_floats([c.window_similarity for c in candidates]),
        context=np.minimum(share, 1.0).astype(np.float32),
        subject=subject,
        named=np.array([not asked.isdisjoint(c.subject) for c in candidates], dtype=bool),
        question=np.array([c.asks and bool(c.subject) for c in candidates], dtype=bool),
        sources=[c.source or (c.memory, c.chunk) for c in candidates],
    )


def _floats(values: Sequence[float | None]) -> Array:
    return np.array([math.nan if v is None else v for v in values], dtype=np.float32)


def closeness(cosine: Array, fit: Fit) -> Array:
    """Return cosines on the model's own scale, unclipped, so that order is never lost.

    A record without a vector yet counts as a random one.
    """
    scaled = (cosine - fit.low) / (fit.high - fit.low)
    return np.where(np.isnan(scaled), np.float32(NEUTRAL), scaled).astype(np.float32)


def relevance(signals: Signals, fit: Fit, mode: Mode, weights: Weights) -> Array:
    """Return the sum before decay: 0 is nothing, about .8 an answer, 1.3 a clear one.

    (1 - c) · own + c · neighbourhood + named - question + whole, each part words + closeness; then
    the best record of the same source mixes in, and reciprocal ranks.
    """
    words = (signals.words.strength + signals.words.coverage) / 2
    own = _blend(words, closeness(signals.cosine, fit), mode)
    around = _blend(signals.window_words, closeness(signals.window_cosine, fit), mode)
    alone = (1 - signals.context) * own + signals.context * around
    alone = alone + NAMED * signals.named - QUESTION * signals.question
    alone = alone + WHOLE * (signals.words.coverage > _ALL)
    total: Array = _with_source(alone, signals.sources) + RANKS * reciprocal(signals, mode, weights)
    return total


def _blend(words: Array, meaning: Array, mode: Mode) -> Array:
    """Return words and meaning as one; one channel alone counts twice, by the mode alone."""
    if mode == "keyword":
        return (NEUTRAL + words * 2).astype(np.float32)
    return meaning * 2 if mode == "vector" else words + meaning


def _with_source(alone: Array, sources: Sequence[Hashable]) -> Array:
    """Mix in the best record of the same source; the order of the sources' best stays."""
    best: dict[Hashable, float] = {}
    for source, value in zip(sources, alone.tolist(), strict=True):
        best[source] = max(value, best.get(source, value))
    top = np.array([best[source] for source in sources], dtype=np.float32)
    mixed: Array = (alone + SOURCE * top) / (1 + SOURCE)
    return mixed


def reciprocal(signals: Signals, mode: Mode, weights: Weights) -> Array:
    """Return reciprocal rank fusion of own and neighbourhood lists, 0 to 1 (Cormack 2009).

    (w_k / (k + rank_k) + w_v / (k + rank_v)) ÷ (the same at rank 1 in the lists of this mode), for
    the record and for its neighbourhood, averaged. A list without the record adds nothing.
    """
    own = _fused_ranks(signals.words.strength, signals.cosine, mode, weights)
    around = _fused_ranks(signals.window_words, signals.window_cosine, mode, weights)
    return ((own + around) / 2).astype(np.float32)


def _fused_ranks(words: Array, cosine: Array, mode: Mode, weights: Weights) -> Array:
    w_keyword = 0.0 if mode == "vector" else 1.0 if mode == "keyword" else weights.keyword
    w_vector = 0.0 if mode == "keyword" else 1.0 if mode == "vector" else weights.vector
    if w_keyword + w_vector <= 0:
        return np.zeros(len(words), dtype=np.float32)
    found: Array = np.zeros(len(words))
    for weight, rank in (
        (w_keyword, ranks(np.where(words > 0, words, np.nan), weights.depth)),
        (w_vector, ranks(cosine, weights.depth)),
    ):
        found += weight * np.where(rank > 0, 1 / (weights.rrf_k + rank), 0.0)
    return (found * (weights.rrf_k + 1) / (w_keyword + w_vector)).astype(np.float32)


def ranks(values: Array, depth: int) -> NDArray[np.int32]:
    """Return ranks from 1 of the best `depth` values, 0 for the others and for NaN.

    Equal values share the better rank, so that the order of the candidates says nothing.
    """
    found = np.zeros(len(values), dtype=np.int32)
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        return found
    descending = np.sort(-values[known])
    rank = np.searchsorted(descending, -values[known], side="left") + 1
    found[known] = np.where(rank <= depth, rank, 0)
    return found


def score_of(total: float) -> float:
    """Map a sum to the score of 0 to 1: logistic, monotone; min_score .35 is a sum of .25."""
    return 1 / (1 + math.exp(-(min(max(total, -5.0), 5.0) - SCORE_MIDDLE) / SCORE_WIDTH))


def decay(age_days: float, half_life_days: float, floor: float) -> float:
    """Return max(floor, 2^(-age / half-life)); an age below zero counts as none."""
    return max(floor, math.exp2(-max(age_days, 0.0) / half_life_days))


def key(total: float, decayed: float) -> float:
    """Return what records are ordered by: exp(sum / step) × decay, as its logarithm × step.

    Sums differ by tenths, so a plain sum × decay (floor .4) would sort by age alone: measured R@10
    of .36 instead of .82 on a conversation of three months.
    """
    return total + DECAY_STEP * math.log(decayed)


def order(scored: Sequence[tuple[float, float, uuid.UUID]]) -> list[uuid.UUID]:
    """Return ids by weight, then newest (seconds), then id."""
    return [row[2] for row in sorted(scored, key=lambda r: (-r[0], -r[1], r[2].int))]
