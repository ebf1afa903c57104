"""What an embedding provider is: a subclass writes two methods."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from goclaw_site.errors import ProviderError
from memory.vectors import FloatMatrix, FloatVector, unit

_CACHED_QUERIES = 512
_REST_SECONDS = 15.0
#: Longest rest that a provider's Retry-After is followed for.
_LONGEST_REST = 900.0


class EmbeddingProvider:
    """Turns texts into unit vectors of one model.

    Passages and queries are different calls: mixing them cost .17 of recall where it was measured.
    After a transient failure the provider rests for some seconds, so that nobody hammers it.
    """

    model: str = ""
    #: Passages in one call while indexing: about a second of work, so that single writes cut in.
    batch_size: int = 16
    #: Longest input in characters; the rest is cut off at a character.
    max_characters: int = 8_000
    #: The same for a query, which somebody waits for.
    max_query_characters: int = 1_000

    def __init__(self) -> None:
        self._queries: OrderedDict[str, FloatVector] = OrderedDict()
        self._cache_lock = threading.Lock()
        self._rest_until = 0.0
        self._dimensions: int | None = None

    def load(self) -> None:
        """Load what is heavy; called before processes are forked."""

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return one row for each text. Raise ProviderError."""
        raise NotImplementedError

    def embed_query(self, text: str) -> FloatVector:
        """Return the vector of a query. Raise ProviderError."""
        raise NotImplementedError

    @property
    def resting(self) -> bool:
        """Whether a recent failure keeps callers away."""
        return time.monotonic() < self._rest_until

    def passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return (len(texts), dimensions) unit rows, checked. Raise ProviderError."""
        rows = self._guarded(lambda: self.embed_passages([self._prepared(t) for t in texts]))
        return self._checked(rows, len(texts))

    def query(self, text: str) -> FloatVector:
        """Return the unit vector of a query, from the cache where it was asked before."""
        with self._cache_lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        if self.resting:
            raise ProviderError("The embedding provider failed a moment ago; resting.")
        row = self._guarded(lambda: self.embed_query(self._prepared(text, query=True))[None, :])
        vector: FloatVector = self._checked(row, 1)[0]
        with self._cache_lock:
            self._queries[text] = vector
            if len(self._queries) > _CACHED_QUERIES:
                self._queries.popitem(last=False)
        return vector

    def _prepared(self, text: str, *, query: bool = False) -> str:
        longest = min(self.max_characters, self.max_query_characters if query else 10**9)
        return text.replace("\x00", " ")[:longest]

    def _guarded(self, call: Callable[[], FloatMatrix]) -> FloatMatrix:
        try:
            rows = call()
        except ProviderError as error:
            if error.transient:
                self._rest_until = time.monotonic() + _rest(error)
            raise
        except Exception as error:  # what an engine stumbles over is a fault of that text
            kind = type(error).__name__
            raise ProviderError(f"{self.model} failed ({kind}).", transient=False) from error
        try:
            return np.asarray(rows, dtype=np.float32)
        except (TypeError, ValueError):
            raise self._nonsense(f"{self.model} answered what are no vectors.") from None

    def _checked(self, rows: FloatMatrix, count: int) -> FloatMatrix:
        """Refuse answers that would poison the index."""
        if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
            raise self._nonsense(f"{self.model} answered {rows.shape} for {count} texts.")
        if not np.isfinite(rows).all():
            raise self._nonsense(f"{self.model} answered numbers that are not finite.")
        width = rows.shape[1]
        if self._dimensions is None:
            self._dimensions = width
        if width != self._dimensions:
            raise self._nonsense(
                f"{self.model} answered {width} dimensions where {self._dimensions} are expected."
            )
        return unit(rows)

    def _nonsense(self, message: str) -> ProviderError:
        self._rest_until = time.monotonic() + _REST_SECONDS
        return ProviderError(message)


def _rest(error: ProviderError) -> float:
    """Return how long to leave a provider alone: what it asks for, within bounds."""
    asked = getattr(error, "retry_after", None) or 0.0
    return min(max(_REST_SECONDS, asked), _LONGEST_REST)
