"""What is measured on each set: conversations, foreign questions, paragraphs, pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar
from unittest import mock

from benchmarks import store
from benchmarks.baselines import PlainFts5, by_vector
from benchmarks.datasets import Conversation, Passages, Question
from benchmarks.metrics import hit_at, recall_at, reciprocal_rank
from benchmarks.pairs import PAIRS
from benchmarks.store import Corpus
from benchmarks.table import Table

if TYPE_CHECKING:
    from memory.drafts import Draft

#: Deep enough for ten different sessions; the first ten are those of a search for ten.
DEPTH = 100
TOP = 10

Ranker = Callable[[str], list[str]]
T = TypeVar("T")


def product(corpus: Corpus) -> Ranker:
    """Return the product's search at default threshold, gate and rule."""
    from goclaw_site.config import get_config
    from memory.filters import Filters
    from memory.search import SearchRequest, search

    threshold = get_config().memory.search.min_score

    def rank(query: str) -> list[str]:
        request = SearchRequest(query, Filters(), max_results=DEPTH, min_score=threshold)
        return corpus.ranking(hit.id for hit in search(corpus.principal, request).hits)

    return rank


def keyword(corpus: Corpus) -> Ranker:
    """Return the product's search as it is without embeddings."""
    ranked = product(corpus)

    def rank(query: str) -> list[str]:
        with store.keyword_only():
            return ranked(query)

    return rank


def systems(corpus: Corpus, documents: Sequence[tuple[str, str]], name: str) -> dict[str, Ranker]:
    """Return what is compared on one corpus; `name` is the product's row."""
    if name != "goclaw":
        return {name: product(corpus)}
    plain = PlainFts5(documents)
    return {
        name: product(corpus),
        "keyword": keyword(corpus),
        "vector": lambda query: by_vector(corpus, query, DEPTH),
        "fts5_baseline": lambda query: plain.ranking(query, DEPTH),
    }


def turn_drafts(conversation: Conversation) -> Iterator[tuple[str, Draft]]:
    """Return a conversation's turns as a chat log is ingested: one source a session."""
    from memory.drafts import Draft, Source

    positions: dict[int, int] = {}
    for turn in conversation.turns:
        position = positions[turn.session] = positions.get(turn.session, -1) + 1
        yield (
            turn.dia_id,
            Draft(
                turn.text or "…",
                source=Source("chat", f"{conversation.name}/{turn.session}", position),
                index_prefix=f"[{turn.date}] {turn.speaker}:",
                occurred_at=turn.said_at,
                metadata={"speaker": turn.speaker},
            ),
        )


def fill(conversations: Sequence[Conversation]) -> list[Corpus]:
    """Write and index conversations, each as another person's records."""
    return [store.fill(each.name, list(turn_drafts(each))) for each in conversations]


def locomo(
    table: Table,
    conversations: Sequence[Conversation],
    corpora: Sequence[Corpus],
    most: int,
    name: str,
) -> None:
    """Measure turns and sessions, each conversation among its own turns."""
    scores: dict[str, dict[str, list[float]]] = {}
    for conversation, corpus in zip(conversations, corpora, strict=True):
        documents = [(t.dia_id, f"[{t.date}] {t.speaker}: {t.text}") for t in conversation.turns]
        for system, rank in systems(corpus, documents, name).items():
            held = scores.setdefault(system, {})
            for question in some(conversation.questions, most):
                _score_turns(held, question, rank(question.text))
    for system, held in scores.items():
        for metric, values in held.items():
            unit, _, measure = metric.partition("|")
            table.add(("locomo", unit), measure, system, values)


def _session(label: str) -> int:
    return int(label[1:].partition(":")[0])


def _score_turns(held: dict[str, list[float]], question: Question, ranking: list[str]) -> None:
    sessions = list(dict.fromkeys(_session(label) for label in ranking))
    found = {
        "turn|R@5": recall_at(5, ranking, question.gold),
        "turn|R@10": recall_at(TOP, ranking, question.gold),
        f"turn|R@10 cat {question.category}": recall_at(TOP, ranking, question.gold),
        "turn|MRR": reciprocal_rank(ranking, question.gold),
        "session|R@10": recall_at(TOP, sessions, question.gold_sessions),
        "session|any@10": hit_at(TOP, sessions, question.gold_sessions),
    }
    for metric, value in found.items():
        held.setdefault(metric, []).append(value)


def recent(
    table: Table,
    conversations: Sequence[Conversation],
    corpora: Sequence[Corpus],
    most: int,
    name: str,
) -> None:
    """Measure as on the day after the last session, where age differs between turns."""
    values: list[float] = []
    for conversation, corpus in zip(conversations, corpora, strict=True):
        rank = product(corpus)
        last = max(turn.said_at for turn in conversation.turns if turn.said_at)
        with _at(last + timedelta(days=1)):
            asked = some(conversation.questions, most)
            values += [recall_at(TOP, rank(each.text), each.gold) for each in asked]
    table.add(("locomo", "turn"), "R@10 day after", name, values)


@contextmanager
def _at(moment: datetime) -> Iterator[None]:
    """Let the search believe that it is another day."""
    from memory.search import pipeline

    with mock.patch.object(pipeline, "timezone", mock.Mock(now=lambda: moment)):
        yield


def negatives(
    table: Table,
    conversations: Sequence[Conversation],
    corpora: Sequence[Corpus],
    most: int,
    name: str,
) -> None:
    """Ask each question of the next conversation: nothing there answers it."""
    answered: dict[str, list[float]] = {"foreign": [], "foreign masked": [], "own": []}
    for place, conversation in enumerate(conversations):
        names = sorted({turn.speaker for turn in conversation.turns}, key=len, reverse=True)
        own, foreign = product(corpora[place]), product(corpora[(place + 1) % len(corpora)])
        for question in some(conversation.questions, most):
            answered["foreign"].append(float(bool(foreign(question.text)[:TOP])))
            masked = foreign(_masked(question.text, names))
            answered["foreign masked"].append(float(bool(masked[:TOP])))
            answered["own"].append(float(bool(own(question.text)[:TOP])))
    for kind, values in answered.items():
        table.add(("locomo " + kind, "question"), "answered", name, values)


def _masked(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = text.replace(f"{name}'s", "their").replace(name, "they")
    return text


def passages(table: Table, found: Passages, most: int, name: str) -> None:
    """Measure a SQuAD-like set: the right paragraph first, and no empty answer."""
    from memory.drafts import Draft

    documents = [(str(place), text) for place, text in enumerate(found.paragraphs)]
    corpus = store.fill(found.name, [(label, Draft(text)) for label, text in documents])
    for system, rank in systems(corpus, documents, name).items():
        rankings = [(rank(q.text), {str(q.paragraph)}) for q in some(found.questions, most)]
        where = (found.name, "paragraph")
        table.add(where, "R@1", system, [recall_at(1, row, gold) for row, gold in rankings])
        ranks = [reciprocal_rank(row, gold, TOP) for row, gold in rankings]
        table.add(where, "MRR@10", system, ranks)
        table.add(where, "empty", system, [float(not row) for row, _ in rankings])


def pairs(table: Table, name: str) -> None:
    """Measure questions that share no word with their memory, across languages too."""
    from goclaw_site.config import get_config
    from memory.drafts import Draft

    corpus = store.fill("pairs", [(str(at), Draft(text)) for at, (_, text) in enumerate(PAIRS)])
    rank, most = product(corpus), get_config().memory.search.max_results
    kept = [hit_at(most, rank(query), {str(at)}) for at, (query, _) in enumerate(PAIRS)]
    table.add(("pairs", "record"), f"kept@{most}", name, kept)


def some(items: Sequence[T], most: int) -> Sequence[T]:
    """Return all, or a fixed random part of them."""
    if not most or len(items) <= most:
        return items
    return random.Random(7).sample(list(items), most)
