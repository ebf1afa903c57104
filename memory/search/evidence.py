"""Whether anything answers the query at all: ranking always puts something first. Pure.

Two stages: a gate for the query as a whole, fitted for each embedding model, and the source's rule
for each result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory.search.constants import SILENT_COVERAGE, Fit
from memory.search.lexical import Array
from memory.search.ranking import Mask, Signals

#: The verdict where the check is switched off.
UNCHECKED = "not checked"


@dataclass(frozen=True)
class Policy:
    """The settings: None leaves what was measured, a negative similarity switches all off."""

    min_similarity: float | None = None
    gate_similarity: float | None = None

    @property
    def off(self) -> bool:
        """Whether nothing is checked."""
        return self.min_similarity is not None and self.min_similarity < 0

    def floor(self, fit: Fit) -> float | None:
        """Return the least cosine of a result; None where every vector passes."""
        return fit.floor if self.min_similarity is None else self.min_similarity


def confidence(signals: Signals, fit: Fit) -> float | None:
    """Return how sure the gate is: 1 is its threshold; None where the model has no gate.

    The best record's words + closeness, a · best closeness, and b · best weighted coverage. Records
    without a speaker (pages, notes) need less: their texts are longer and speak of one thing.
    """
    if fit.gate_threshold is None or not len(signals.cosine):
        return None
    words = (signals.words.strength + signals.words.coverage) / 2
    near = (np.nan_to_num(signals.cosine, nan=-1.0) - fit.low) / (fit.high - fit.low)
    found = []
    for group, threshold in (
        (signals.subject, fit.gate_threshold),
        (~signals.subject, fit.gate_threshold - fit.gate_discount),
    ):
        if group.any():
            total = _total(words[group], near[group], signals.words.coverage[group], fit)
            found.append(total / threshold)
    return max(found)


def _total(words: Array, near: Array, coverage: Array, fit: Fit) -> float:
    best = (words + near).max() + fit.gate_closeness * near.max()
    return float(best + fit.gate_coverage * coverage.max())


def opens(signals: Signals, fit: Fit, policy: Policy) -> bool:
    """Tell whether anything here answers the query."""
    if policy.off or fit.gate_threshold is None or np.isnan(signals.cosine).all():
        return True
    nearest = float(np.nan_to_num(signals.cosine, nan=-1.0).max())
    if policy.gate_similarity is not None and nearest >= policy.gate_similarity:
        return True
    if signals.words.coverage.max() <= SILENT_COVERAGE and nearest >= fit.silent:
        return True  # no word in common (another language): words are silent, not against it
    sure = confidence(signals, fit)
    return sure is None or sure >= 1


def by_similarity(signals: Signals, fit: Fit, policy: Policy) -> Mask:
    """Tell for each candidate whether its cosine alone is evidence."""
    floor = policy.floor(fit)
    known = ~np.isnan(signals.cosine)
    return known if floor is None else known & (np.nan_to_num(signals.cosine, nan=-1.0) >= floor)


def unjudged(signals: Signals) -> Mask:
    """Tell which have no vector yet: a shut gate cannot speak for them, so their words do alone."""
    without: Mask = np.isnan(signals.cosine)
    return without


def by_terms(signals: Signals, distinct: int) -> Mask:
    """Tell for each candidate whether at least half of the query's terms are in its text."""
    half: Mask = (signals.words.matched * 2 >= distinct) & (distinct > 0)
    return half


def verdict(similar: bool, worded: bool) -> str:
    """Return the word for what speaks for a result; empty for nothing."""
    if similar and worded:
        return "both"
    return "similarity" if similar else "terms" if worded else ""
