"""Any endpoint that speaks OpenAI's embeddings: OpenAI, Gemini, Ollama, vLLM, LM Studio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import openai
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential

from goclaw_site.config import get_config
from goclaw_site.errors import ProviderError
from memory.providers.base import EmbeddingProvider
from memory.vectors import FloatMatrix, FloatVector

DEFAULT_MODEL = "text-embedding-3-small"
#: Attempts in the background; a query is never kept waiting for a second one.
_ATTEMPTS = 3
_QUERY_SECONDS = 5.0

T = TypeVar("T")


class OpenAIProvider(EmbeddingProvider):
    """Embeddings over HTTP by the official SDK. The key reaches no log, error or page."""

    max_characters = 24_000

    def __init__(self) -> None:
        super().__init__()
        search = get_config().memory.search
        self._name = search.model or DEFAULT_MODEL
        # Shortened vectors are another model: the two never meet in a comparison.
        self.model = f"{self._name}@{search.dimensions}" if search.dimensions else self._name
        self.batch_size = search.batch_size
        self._wanted = search.dimensions
        self._dimensions = search.dimensions
        key = search.api_key.get_secret_value() if search.api_key else "none"
        self._client = openai.OpenAI(
            api_key=key, base_url=search.base_url, timeout=search.timeout_seconds, max_retries=0
        )
        self._query_seconds = min(search.timeout_seconds, _QUERY_SECONDS)

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        return _patiently(lambda: self._call(list(texts), None))

    def embed_query(self, text: str) -> FloatVector:
        vector: FloatVector = self._call([text], self._query_seconds)[0]
        return vector

    def _call(self, texts: list[str], seconds: float | None) -> FloatMatrix:
        client = self._client if seconds is None else self._client.with_options(timeout=seconds)
        wanted: Any = {"dimensions": self._wanted} if self._wanted else {}
        try:
            answer = client.embeddings.create(
                model=self._name, input=texts, encoding_format="float", **wanted
            )
            rows = sorted(answer.data, key=lambda row: row.index)
            return np.array([row.embedding for row in rows], dtype=np.float32)
        except openai.APIStatusError as error:
            raise _from_status(error) from None
        except openai.APIConnectionError as error:
            slow = isinstance(error, openai.APITimeoutError)
            problem = "did not answer in time" if slow else "cannot be reached"
            raise ProviderError(f"The embedding provider {problem}.") from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            kind = type(error).__name__
            raise ProviderError(f"The embedding provider answered nonsense ({kind}).") from None


def _from_status(error: openai.APIStatusError) -> ProviderError:
    """Rate limits, server faults and wrong keys can pass; other refusals are lasting."""
    transient = error.status_code in (401, 403, 404, 408, 409, 429) or error.status_code >= 500
    return ProviderError(
        f"The embedding provider answered HTTP {error.status_code}.", transient=transient
    )


def _worth_retrying(error: BaseException) -> bool:
    return isinstance(error, ProviderError) and error.transient


@retry(
    retry=retry_if_exception(_worth_retrying),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_random_exponential(multiplier=0.5, max=4),
    reraise=True,
)
def _patiently(call: Callable[[], T]) -> T:
    return call()
