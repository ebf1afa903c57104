"""Any endpoint that speaks OpenAI's embeddings: OpenAI, Gemini, Ollama, vLLM, LM Studio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import openai

from goclaw_site.config import get_config
from memory.providers.base import EmbeddingProvider
from memory.providers.failures import NONSENSE, CallFailed
from memory.providers.outgoing import EMBEDDING_BYTES, client, speak
from memory.providers.patience import patiently
from memory.vectors import FloatMatrix, FloatVector

DEFAULT_MODEL = "text-embedding-3-small"
_URL = "https://api.openai.com/v1"
#: A query is never kept waiting for a second try; passages may take twice the timeout with theirs.
_QUERY_SECONDS = 5.0
_TRIES_FACTOR = 2.0
_WHO = "The embedding provider"


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
            api_key=key,
            organization="",
            project="",
            base_url=search.base_url or _URL,
            max_retries=0,
            http_client=client(_WHO, EMBEDDING_BYTES),
        )
        self._seconds = search.timeout_seconds
        self._query_seconds = min(search.timeout_seconds, _QUERY_SECONDS)

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        def call(left: float) -> FloatMatrix:
            return self._call(list(texts), min(left, self._seconds))

        return patiently(call, self._seconds * _TRIES_FACTOR)

    def embed_query(self, text: str) -> FloatVector:
        vector: FloatVector = self._call([text], self._query_seconds)[0]
        return vector

    def _call(self, texts: list[str], seconds: float) -> FloatMatrix:
        return speak(_WHO, openai, lambda: self._send(texts, seconds))

    def _send(self, texts: list[str], seconds: float) -> FloatMatrix:
        wanted: Any = {"dimensions": self._wanted} if self._wanted else {}
        answer = self._client.embeddings.create(
            model=self._name, input=texts, encoding_format="float", timeout=seconds, **wanted
        )
        if not answer.data:
            raise CallFailed(_WHO, NONSENSE, "answered no vectors")
        rows = sorted(answer.data, key=lambda row: row.index)
        return np.array([row.embedding for row in rows], dtype=np.float32)
