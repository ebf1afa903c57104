"""The keyword list on PostgreSQL: any of the terms, the rarer first, ranked like BM25.

In a large index PostgreSQL knows how common a term is from its own statistics, so nothing is
counted to rank; a small one is counted, so that it ranks exactly as SQLite does. A first pass
orders what the rarer terms hold by which terms are there and how long the chunk is; a second one
counts the terms in the texts of the best.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection

#: Rows that the first pass looks at: rarer terms bring them up, the commoner ones only add weight.
ENOUGH = 60_000
#: Rows that the second pass reads: how often a term is there moves a chunk by some hundred places.
READ = 2_000
#: In a small index, where a common word alone may stand in a third of all.
READ_OF_FEW = 8_000
#: Up to so many chunks every term is counted: milliseconds, and no guess in the order.
COUNTED = 50_000
_LONGEST = 500
_LARGE, _REMEMBERED = 10_000, 300.0
# As FTS5 has them.
_K1, _B = 1.2, 0.75
_TABLE = "memory_chunks_terms"

_means: dict[str, tuple[float, float]] = {}

Narrowing = tuple[str, list[Any]]


def best(terms: Sequence[str], tokens: Iterable[str], inside: Narrowing, limit: int) -> list[int]:
    """Return the ids of up to `limit` chunks within the tokens, the best first."""
    access = _access(tokens)
    wanted = _usable(terms)
    if not wanted or not access:
        return []
    # Weights over the whole index, as FTS5 has them; what brings rows up is judged within reach.
    everywhere = _frequencies(wanted)
    weights = {term: _idf(everywhere[""], everywhere[term]) for term in wanted}
    mean = _mean_length()
    bringing = _rarer(wanted, _estimates(wanted, access))
    read = READ if everywhere[""] > COUNTED else READ_OF_FEW
    found = _first_pass(bringing, weights, access, inside, mean, read)
    return _by_frequency(found, weights, mean)[:limit]


def counts(terms: Sequence[str], tokens: Iterable[str], cap: int) -> dict[str, int]:
    """Return how many chunks within the tokens hold each term; counting stops at the cap."""
    access, wanted = _access(tokens), _usable(terms)
    one = (
        f"(SELECT count(*) FROM (SELECT 1 FROM {_TABLE} WHERE terms @@ %s::tsquery"
        " LIMIT %s) AS held)"
    )
    params = [value for term in wanted for value in (f"{_quoted(term)} & {access}", cap)]
    numbers = _rows("SELECT " + ", ".join([one] * len(wanted)), params)[0] if wanted else ()
    return dict.fromkeys(terms, 0) | dict(zip(wanted, numbers, strict=True))


def _estimates(terms: Sequence[str], access: str) -> dict[str, float]:
    """Return the planner's guess of the chunks within reach, under "", and of those per term.

    An empty `access` reaches everything.
    """
    within = f" & {access}" if access else ""
    one = f"(SELECT 1 FROM {_TABLE} WHERE terms @@ %s::tsquery)"
    whole = one if access else f"(SELECT 1 FROM {_TABLE})"
    asked = [access] * bool(access) + [_quoted(term) + within for term in terms]
    sql = "EXPLAIN (FORMAT JSON) " + " UNION ALL ".join([whole, *[one] * len(terms)])
    plan = _rows(sql, asked)[0][0]
    tree = json.loads(plan) if isinstance(plan, str) else plan
    parts = tree[0]["Plan"].get("Plans", [])
    guesses = [float(part["Plan Rows"]) for part in parts]
    if len(guesses) != len(terms) + 1:
        guesses = [1.0] * (len(terms) + 1)
    return dict(zip(["", *terms], guesses, strict=True))


def _frequencies(terms: Sequence[str]) -> dict[str, float]:
    """Return the chunks in all, under "", and those that hold each term, whoever may see them."""
    guessed = _estimates(terms, "")
    if guessed[""] > COUNTED:
        return guessed
    whole = f"(SELECT count(*) FROM {_TABLE})"
    one = f"(SELECT count(*) FROM {_TABLE} WHERE terms @@ %s::tsquery)"
    sql = "SELECT " + ", ".join([whole, *[one] * len(terms)])
    numbers = _rows(sql, [_quoted(term) for term in terms])[0]
    return {term: float(number) for term, number in zip(["", *terms], numbers, strict=True)}


def _rarer(terms: Sequence[str], rows: Mapping[str, float]) -> list[str]:
    """Return the terms, rarest first, that bring up enough rows together."""
    ordered = sorted(terms, key=lambda term: rows[term])
    taken, total = ordered[:1], rows[ordered[0]]
    for term in ordered[1:]:
        total += rows[term]
        if total > ENOUGH:
            break
        taken.append(term)
    return taken


def _first_pass(
    bringing: Sequence[str],
    weights: Mapping[str, float],
    access: str,
    inside: Narrowing,
    mean: float,
    read: int,
) -> list[int]:
    """Return the best chunks where each term counts once."""
    held = " + ".join(["CASE WHEN terms @@ %s::tsquery THEN %s::float8 ELSE 0 END"] * len(weights))
    params: list[Any] = [value for term in weights for value in (_quoted(term), weights[term])]
    narrowed, more = inside
    sql = (
        f"SELECT chunk FROM {_TABLE} WHERE terms @@ %s::tsquery{narrowed}"
        f" ORDER BY ({held}) / (1 + {_K1} * ({1 - _B} + {_B} * (length + 1) / %s)) DESC, chunk"
        " LIMIT %s"
    )
    match = f"({' | '.join(_quoted(term) for term in bringing)}) & {access}"
    return [row[0] for row in _rows(sql, [match, *more, *params, mean, read])]


def _mean_length() -> float:
    """Return how many terms a chunk has, its token too; remembered where the table is large."""
    name = str(connection.settings_dict["NAME"])
    until, mean = _means.get(name, (0.0, 1.0))
    if until > time.monotonic():
        return mean
    sql = f"SELECT count(*), coalesce(avg(length), 0)::float8 + 1 FROM {_TABLE}"
    count, mean = _rows(sql, [])[0]
    if count >= _LARGE:
        _means[name] = (time.monotonic() + _REMEMBERED, mean)
    return float(mean)


def _by_frequency(chunks: Sequence[int], weights: Mapping[str, float], mean: float) -> list[int]:
    """Order by BM25 proper: how often each term is there counts, too."""
    sql = "SELECT id, search_text FROM memory_chunks WHERE id = ANY(%s)"
    texts = [(chunk, text.split(" ")) for chunk, text in _rows(sql, [list(chunks)])]
    scored = [(-_score(words, weights, mean), chunk) for chunk, words in texts]
    return [chunk for _, chunk in sorted(scored)]


def _score(words: Sequence[str], weights: Mapping[str, float], mean: float) -> float:
    spread = _K1 * (1 - _B + _B * (len(words) + 1) / mean)
    times = ((words.count(term), weight) for term, weight in weights.items())
    return sum(weight * n * (_K1 + 1) / (n + spread) for n, weight in times if n)


def _idf(total: float, holding: float) -> float:
    """As FTS5 has it; a term in more than half of all weighs next to nothing, never less."""
    ratio = (max(total - holding, 0.0) + 0.5) / (holding + 0.5)
    return max(math.log(ratio), 1e-6)


def _access(tokens: Iterable[str]) -> str:
    found = " | ".join(_quoted("@" + token) for token in sorted(tokens))
    return f"({found})" if found else ""


def _usable(terms: Sequence[str]) -> list[str]:
    """Return the terms that an index can hold at all; what it cannot hold is in no chunk."""
    return [
        term
        for term in dict.fromkeys(terms)
        if term and "\0" not in term and len(term) <= _LONGEST and not term.startswith("@")
    ]


def _quoted(term: str) -> str:
    """Return a lexeme of a tsquery: nothing in it is an operator."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())
