"""People, records, providers and faults for the engine's tests."""

import hashlib
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np
from django.contrib.auth.models import User
from django.utils import timezone

from goclaw_site.errors import ProviderError
from memory import filters, indexing, providers
from memory.access import Principal
from memory.drafts import Draft, Source
from memory.models import Memory
from memory.providers.base import EmbeddingProvider
from memory.search import Results, SearchRequest, search
from memory.text import terms
from memory.vectors import FloatMatrix, FloatVector
from memory.write import Written, remember

ADMIN = Principal(name="command", is_admin=True, door="command")
SERVER = Principal(name="server", system=True, is_admin=True)
GATEWAY = Principal(name="gateway bot", gateway=True)
NOBODY = Principal(read_only=True)


def person(name: str, **fields: Any) -> Principal:
    """Return the principal of a new user, who is nothing but a person unless `fields` say so."""
    user, _ = User.objects.get_or_create(username=name)
    return Principal(person=user.pk, name=name, **fields)


def run_of(kind: str, **fields: Any) -> Principal:
    return Principal(name=f"{kind} job", run_kind=kind, **fields)


def put(principal: Principal, content: str, **fields: Any) -> Written:
    """Write a record; to `agent_notes` where no scope is given."""
    return remember(principal, Draft(content=content, **{"scope": "agent_notes", **fields}))


def note(content: str, **fields: Any) -> Memory:
    """Write a record of an administrator and return it."""
    return put(ADMIN, content, **fields).memory


def turn(content: str, position: int, session: str = "talk", **fields: Any) -> Memory:
    """Write one turn of a session."""
    return note(content, source=Source("session", session, position), **fields)


def index_all(limit: float = 110.0) -> None:
    """Index whatever is due, as a worker does; `limit` (seconds) is an emergency brake."""
    assert not indexing.index_waiting(time.monotonic() + limit)


def make_due() -> None:
    """Let the delay or lease of every waiting record be over."""
    Memory.objects.filter(indexing.waiting()).update(next_attempt_at=None)


def ask(principal: Principal, query: str, *, limit: int | None = 50, **values: Any) -> Results:
    score = values.pop("min_score", None)
    wanted = filters.parse(values)
    return search(principal, SearchRequest(query, wanted, max_results=limit, min_score=score))


def ids(principal: Principal, query: str, **values: Any) -> list[uuid.UUID]:
    """Return the ids that a search gives, the best first."""
    return [hit.id for hit in ask(principal, query, **values).hits]


def texts(principal: Principal, query: str, **values: Any) -> list[str]:
    return [hit.text for hit in ask(principal, query, **values).hits]


def ago(**span: float) -> datetime:
    return timezone.now() - timedelta(**span)


def expire(memory: Memory) -> None:
    """Let the record's end have come an hour ago."""
    Memory.objects.filter(pk=memory.pk).update(expires_at=ago(hours=1))


def eventually(truth: Callable[[], bool], seconds: float = 30.0) -> None:
    """Poll until `truth` holds; the brake is far beyond what any machine needs."""
    end = time.monotonic() + seconds
    while not truth():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


class BagProvider(EmbeddingProvider):
    """A small deterministic embedder: equal words, near vectors. Counts what it is asked."""

    def __init__(self, model: str = "bag", dimensions: int = 48) -> None:
        super().__init__()
        self.model = model
        self.width = dimensions
        self.passages_seen: list[str] = []
        self.batches: list[int] = []
        self.before: Callable[[Sequence[str]], None] = lambda texts: None

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        self.before(texts)
        self.passages_seen += texts
        self.batches.append(len(texts))
        return np.vstack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> FloatVector:
        return self._vector(text)

    def _vector(self, text: str) -> FloatVector:
        vector = np.full(self.width, 0.01, np.float32)
        for term in terms(text):
            digest = hashlib.sha256(term.encode()).digest()
            vector[digest[0] % self.width] += 1.0
            vector[digest[1] % self.width] -= 0.5
        return vector


class Failing(BagProvider):
    """Fails with the error in `broken` for texts that hold `poison`; '' is in every text."""

    def __init__(self, error: ProviderError | Exception, poison: str = "") -> None:
        super().__init__("bag")
        self.broken: Exception | None = error
        self.poison = poison
        self.calls = 0
        self.before = self._fail

    def _fail(self, texts: Sequence[str]) -> None:
        self.calls += 1
        if self.broken is not None and any(self.poison in text for text in texts):
            raise self.broken

    def awake(self) -> None:
        """Let the rest after a failure be over."""
        self._rest_until = 0.0


P = TypeVar("P", bound=EmbeddingProvider)


def serve(provider: P) -> P:
    """Make this the process's provider until the end of the test."""
    providers.reset()
    providers._made.append(provider)
    return provider
