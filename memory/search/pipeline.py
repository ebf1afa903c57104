"""One search from request to hits: policy, lists, fusion, threshold, evidence, decay, order."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from goclaw_site.config import get_config
from goclaw_site.errors import InvalidInput, ProviderError
from memory import providers, queries
from memory.access import Principal
from memory.filters import Filters, condition
from memory.models import Memory
from memory.search import backends, evidence, lexical, ranking
from memory.search.candidates import gather, reach_of, texts
from memory.search.constants import fit_of
from memory.search.explaining import Explainer
from memory.search.snippets import snippet
from memory.search.types import Candidate, Hit, Query, Results
from memory.text import query_terms
from memory.vocabulary import SUPERSEDED

MAX_RESULTS = 100
#: The default threshold cuts short lists only: who asks for more than this wants the tail too.
THRESHOLD_UP_TO = 10
#: A query longer than this is searched by its beginning.
MAX_QUERY = 4_000
_DAY = 86_400.0


@dataclass(frozen=True)
class SearchRequest:
    """One search. `min_score` None means the configured one, lifted past ten results."""

    query: str
    filters: Filters
    max_results: int | None = None
    min_score: float | None = None


@dataclass(frozen=True)
class _Ranked:
    """A record, by the place of its best chunk among the candidates."""

    at: int
    best: Candidate
    total: float
    decay: float
    age_days: float


def search(principal: Principal, request: SearchRequest) -> Results:
    """Return what answers the query among what the principal may see, the best first.

    Any query string searches or finds nothing; only wrong limits and filters raise InvalidInput.
    """
    started = time.perf_counter()
    limit, threshold = _limits(request)
    query, degraded = _prepare(request.query)
    hits = _hits(principal, request, query, limit, threshold)
    return Results(
        hits=tuple(hits),
        mode=query.mode,
        pending=queries.unindexed(principal),
        took_ms=(time.perf_counter() - started) * 1000,
        degraded=degraded,
    )


def _limits(request: SearchRequest) -> tuple[int, float]:
    settings = get_config().memory.search
    limit = settings.max_results if request.max_results is None else request.max_results
    if not 1 <= limit <= MAX_RESULTS:
        raise InvalidInput(f"max_results must be 1 to {MAX_RESULTS}.", field="max_results")
    if request.min_score is not None:
        if not 0 <= request.min_score <= 1:
            raise InvalidInput("min_score must be 0 to 1.", field="min_score")
        return limit, request.min_score
    return limit, settings.min_score if limit <= THRESHOLD_UP_TO else 0.0


def _prepare(text: str) -> tuple[Query, str]:
    """Return the query's terms and vector, and why there is no vector where one is expected."""
    text = text[:MAX_QUERY].encode("utf-8", "replace").decode("utf-8")
    terms = tuple(query_terms(text))
    provider = providers.current()
    if provider is None or not text.strip():
        return Query(terms, None, ""), "" if provider else providers.why_none()
    try:
        return Query(terms, provider.query(text), provider.model), ""
    except ProviderError as error:
        return Query(terms, None, ""), error.message


def _hits(
    principal: Principal, request: SearchRequest, query: Query, limit: int, threshold: float
) -> list[Hit]:
    if not query.terms and query.vector is None:
        return []
    reach = reach_of(principal, request.filters)
    candidates = gather(principal, query, reach)
    if not candidates:
        return []
    statistics = backends.current().statistics(query.terms, reach)
    terms = lexical.inverse_frequencies(statistics.total, statistics.holding)
    signals = ranking.measure(candidates, terms, get_config().memory.search.neighbour_weight)
    verdicts = _verdicts(signals, query)
    ranked = _rank(candidates, signals, query, verdicts)
    kept = [row for row in ranked if ranking.score_of(row.total) >= threshold][:limit]
    explainer = Explainer(signals, verdicts, query, fit_of(query.model), _weights().depth)
    return _shown(principal, request.filters, kept, query, explainer)


def _verdicts(signals: ranking.Signals, query: Query) -> list[str]:
    """Return what speaks for each candidate; empty where nothing does, or the gate is shut."""
    settings = get_config().memory.search
    policy = evidence.Policy(settings.min_similarity, settings.gate_similarity)
    fit = fit_of(query.model)
    if policy.off:
        return [evidence.UNCHECKED] * len(signals.cosine)
    similar = evidence.by_similarity(signals, fit, policy)
    worded = evidence.by_terms(signals, len(query.terms))
    if not evidence.opens(signals, fit, policy):
        worded = worded & evidence.unjudged(signals)
        similar = similar & False
    pairs = zip(similar.tolist(), worded.tolist(), strict=True)
    return [evidence.verdict(*pair) for pair in pairs]


def _rank(
    candidates: Sequence[Candidate],
    signals: ranking.Signals,
    query: Query,
    verdicts: Sequence[str],
) -> list[_Ranked]:
    """Fuse and order the records that show evidence; the best chunk speaks for its record."""
    totals = ranking.relevance(signals, fit_of(query.model), query.mode, _weights()).tolist()
    best: dict[uuid.UUID, int] = {}
    for at, candidate in enumerate(candidates):
        held = best.get(candidate.memory)
        if verdicts[at] and (held is None or totals[at] > totals[held]):
            best[candidate.memory] = at
    now = timezone.now()
    rows = {record: _aged(at, candidates[at], totals[at], now) for record, at in best.items()}
    weighed = [
        (ranking.key(row.total, row.decay), row.best.said_at.timestamp(), record)
        for record, row in rows.items()
    ]
    return [rows[record] for record in ranking.order(weighed)]


def _aged(at: int, candidate: Candidate, total: float, now: datetime) -> _Ranked:
    settings = get_config().memory.search
    age = max((now - candidate.said_at).total_seconds() / _DAY, 0.0)
    decay = ranking.decay(age, settings.half_life_days, settings.decay_floor)
    return _Ranked(at, candidate, total, 1.0 if candidate.lasting else decay, age)


def _weights() -> ranking.Weights:
    settings = get_config().memory.search
    return ranking.Weights(
        rrf_k=settings.rrf_k,
        keyword=settings.keyword_weight,
        vector=settings.vector_weight,
        depth=settings.depth,
    )


def _shown(
    principal: Principal,
    filters: Filters,
    rows: Sequence[_Ranked],
    query: Query,
    explainer: Explainer,
) -> list[Hit]:
    """Read the results once more through the policy, with their texts."""
    ids = [row.best.memory for row in rows]
    records = queries.visible_by_id(principal, ids, condition(filters))
    written = texts([row.best for row in rows])
    shown: Iterable[_Ranked] = (row for row in rows if row.best.memory in records)
    return [_hit(row, records[row.best.memory], query, written, explainer) for row in shown]


def _hit(
    row: _Ranked,
    record: Memory,
    query: Query,
    written: Mapping[tuple[uuid.UUID, int], tuple[str, str]],
    explainer: Explainer,
) -> Hit:
    heading, text = written.get((record.pk, row.best.chunk), ("", ""))
    tags = tuple(record.tag_names)
    return Hit(
        id=record.pk,
        scope=record.scope,
        kind=record.kind,
        domain=record.domain,
        tags=tags,
        heading=heading,
        text=text,
        snippet=snippet(text, query.terms),
        score=ranking.score_of(row.total),
        superseded=SUPERSEDED in tags,
        created_at=record.created_at,
        updated_at=record.updated_at,
        occurred_at=record.occurred_at,
        explain=explainer.of(row.at, row.total, row.decay, row.age_days),
    )
