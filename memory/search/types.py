"""What goes through the search: request, candidates, hits. Plain data, no database."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Mode = Literal["hybrid", "keyword", "vector"]


@dataclass(frozen=True)
class Query:
    """What is asked, made ready: terms, and a vector where a provider serves."""

    terms: tuple[str, ...]
    vector: NDArray[np.float32] | None
    model: str

    @property
    def mode(self) -> Mode:
        """Which lists take part."""
        if self.vector is None:
            return "keyword"
        return "hybrid" if self.terms else "vector"


@dataclass(frozen=True)
class Candidate:
    """One chunk that some list brought up, with what the pure steps need to know of it.

    `chunk` is negative for a record that no worker has cut yet. `source` is empty, or the same for
    all chunks of one source. `lasting`: age does not touch it.
    `asks`: its text ends with a question mark. Similarities are cosines,
    None where there is no vector.
    """

    chunk: int
    memory: uuid.UUID
    lasting: bool
    said_at: datetime
    source: str
    subject: frozenset[str]
    terms: tuple[str, ...]
    window_terms: tuple[str, ...]
    asks: bool = False
    similarity: float | None = None
    window_similarity: float | None = None


@dataclass(frozen=True)
class Explanation:
    """Why a result stands where it does: words for people, numbers for engineers."""

    keyword_rank: int | None
    vector_rank: int | None
    similarity: float | None
    matched_terms: int
    query_terms: int
    evidence: str
    confidence: float | None
    signals: Mapping[str, float | bool | None]
    weights: Mapping[str, float]
    decay: float
    age_days: float
    total: float

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, rounded."""
        return {
            "words": self.words,
            "keyword_rank": self.keyword_rank,
            "vector_rank": self.vector_rank,
            "similarity": rounded(self.similarity),
            "matched_terms": self.matched_terms,
            "query_terms": self.query_terms,
            "decay": rounded(self.decay),
            "age_days": round(self.age_days, 1),
            "evidence": self.evidence,
            "confidence": rounded(self.confidence),
            "signals": {name: rounded(value) for name, value in self.signals.items()},
            "weights": dict(self.weights),
            "sum": rounded(self.total),
        }

    @property
    def words(self) -> str:
        """The explanation as a sentence for people."""
        parts = []
        if self.matched_terms:
            parts.append(f"matched {self.matched_terms} of {self.query_terms} words")
        if self.evidence in ("similarity", "both"):
            parts.append("similar in meaning")
        if self.signals.get("named"):
            parts.append("said by whom you ask about")
        days = int(self.age_days)
        parts.append("today" if days == 0 else f"{days} day{'s' if days != 1 else ''} old")
        return ", ".join(parts)


def rounded(value: float | bool | None) -> float | bool | None:
    """Return a number at four digits; other values as they are."""
    return value if value is None or isinstance(value, bool) else round(float(value), 4)


@dataclass(frozen=True)
class Hit:
    """One result. `score` is 0 to 1, higher is better."""

    id: uuid.UUID
    scope: str
    kind: str
    domain: str
    tags: tuple[str, ...]
    heading: str
    text: str
    snippet: str
    score: float
    superseded: bool
    created_at: datetime
    updated_at: datetime
    occurred_at: datetime | None
    explain: Explanation

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "id": str(self.id),
            "scope": self.scope,
            "kind": self.kind,
            "domain": self.domain,
            "tags": list(self.tags),
            "heading": self.heading,
            "text": self.text,
            "snippet": self.snippet,
            "score": round(self.score, 4),
            "superseded": self.superseded,
            "created_at": iso(self.created_at),
            "updated_at": iso(self.updated_at),
            "occurred_at": iso(self.occurred_at),
            "explain": self.explain.as_dict(),
        }


def iso(moment: datetime | None) -> str | None:
    """Return ISO 8601 in UTC with a Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True)
class Results:
    """A search's answer; `degraded` says why it is less than hybrid, in words."""

    hits: tuple[Hit, ...]
    mode: Mode
    pending: int
    took_ms: float
    degraded: str = ""
    confidence: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the answer of the API and of `memory search --json`."""
        answer = {
            "results": [hit.as_dict() for hit in self.hits],
            "mode": self.mode,
            "pending": self.pending,
            "took_ms": round(self.took_ms, 1),
        }
        return answer | ({"degraded": self.degraded} if self.degraded else {})


@dataclass(frozen=True)
class TextStatistics:
    """Counts over what the caller may see: chunks in all, and chunks that hold each term."""

    total: int
    holding: Mapping[str, int] = field(default_factory=dict)
