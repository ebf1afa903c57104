"""`make bench-retrieval CROSS=1`: the constants of fusion, chosen on nine conversations each time.

The product gathers and measures the candidates of every question once; then each setting of the
grid orders them anew. For each conversation left out, the setting that is best on the others is
scored on it: the mean of these scores is what a stranger's conversation may expect, and their
spread is printed.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from unittest import mock

import numpy as np

from benchmarks import sets
from benchmarks.datasets import Conversation
from benchmarks.metrics import recall_at, reciprocal_rank
from benchmarks.store import Corpus

#: What is tried, around the constants in memory/search/constants.py.
GRID = {
    "TURN_CONTEXT": (0.5, 0.65, 0.75, 0.85),
    "NAMED": (0.1, 0.2, 0.3),
    "SOURCE": (0.25, 0.5, 1.0),
    "QUESTION": (0.0, 0.07),
    "RANKS": (0.0, 0.05, 0.1),
}
_TOP = 10

Setting = tuple[float, ...]


@dataclass(frozen=True)
class _Asked:
    """One question with everything that ranking is made from."""

    signals: object
    mode: str
    model: str
    labels: list[list[str]]
    records: list[int]
    gold: frozenset[str]


def run(conversations: Sequence[Conversation], most: int) -> int:
    """Print what each fold chose and scored."""
    corpora = sets.fill(conversations)
    pairs = zip(conversations, corpora, strict=True)
    folds = [list(_asked(conversation, corpus, most)) for conversation, corpus in pairs]
    scores = {setting: [_scored(fold, setting) for fold in folds] for setting in _settings()}
    print(f"{'left out':<12}{'questions':>10}{'R@10':>8}{'MRR':>8}  chosen on the others")
    held: list[tuple[float, float]] = []
    chosen: Counter[Setting] = Counter()
    for place, conversation in enumerate(conversations):
        best = max(
            scores, key=lambda s: _objective([x for i, x in enumerate(scores[s]) if i != place])
        )
        chosen[best] += 1
        held.append(scores[best][place])
        recall, rank = scores[best][place]
        figures = f"{len(folds[place]):>10}{recall:>8.3f}{rank:>8.3f}"
        print(f"{conversation.name:<12}{figures}  {_named(best)}")
    recalls, ranks = zip(*held, strict=True)
    print(f"held out: R@10 {fmean(recalls):.3f} ± {pstdev(recalls):.3f}, MRR {fmean(ranks):.3f}")
    for setting, count in chosen.most_common():
        print(f"{count:>3} folds chose {_named(setting)}")
    return 0


def _settings() -> Iterator[Setting]:
    return itertools.product(*GRID.values())


def _named(setting: Setting) -> str:
    return " ".join(f"{name}={value}" for name, value in zip(GRID, setting, strict=True))


def _objective(scores: Sequence[tuple[float, float]]) -> float:
    return fmean(recall + rank / 2 for recall, rank in scores)


def _asked(conversation: Conversation, corpus: Corpus, most: int) -> Iterator[_Asked]:
    from memory import providers
    from memory.filters import Filters
    from memory.search import backends, lexical, ranking
    from memory.search.candidates import gather, reach_of
    from memory.search.types import Query
    from memory.text import query_terms

    provider = providers.current()
    if provider is None:
        sys.exit("Cross-validation needs an embedding provider.")
    reach = reach_of(corpus.principal, Filters())
    for question in sets.some(conversation.questions, most):
        terms = tuple(query_terms(question.text))
        query = Query(terms, provider.query(question.text), provider.model)
        candidates = gather(corpus.principal, query, reach)
        counted = backends.current().statistics(terms, reach)
        weights = lexical.inverse_frequencies(counted.total, counted.holding)
        yield _Asked(
            signals=ranking.measure(candidates, weights),
            mode=query.mode,
            model=query.model,
            labels=[list(corpus.labels[c.memory]) for c in candidates],
            records=[c.memory.int for c in candidates],
            gold=question.gold,
        )


def _scored(fold: Sequence[_Asked], setting: Setting) -> tuple[float, float]:
    """Return mean recall and reciprocal rank of a fold under one setting."""
    from memory.search import ranking

    values = dict(zip(GRID, setting, strict=True))
    rows = []
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(mock.patch.object(ranking, name, value))
        for asked in fold:
            ranked = _ranking(asked, values["TURN_CONTEXT"])
            rows.append((recall_at(_TOP, ranked, asked.gold), reciprocal_rank(ranked, asked.gold)))
    return fmean(row[0] for row in rows), fmean(row[1] for row in rows)


def _ranking(asked: _Asked, context: float) -> list[str]:
    from memory.search import ranking
    from memory.search.constants import fit_of

    signals = asked.signals
    assert isinstance(signals, ranking.Signals)
    shares = np.where(signals.subject, context, signals.context).astype(np.float32)
    totals = ranking.relevance(
        replace(signals, context=shares),
        fit_of(asked.model),
        asked.mode,  # type: ignore[arg-type]
        ranking.Weights(),
    )
    order = sorted(range(len(totals)), key=lambda at: (-totals[at], asked.records[at]))
    return list(dict.fromkeys(label for at in order for label in asked.labels[at]))
