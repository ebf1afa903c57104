"""Models of the optional package fastembed, which downloads them."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from goclaw_site.config import get_config
from goclaw_site.errors import ProviderError
from memory.providers.base import EmbeddingProvider
from memory.vectors import FloatMatrix, FloatVector

DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"


class FastEmbedProvider(EmbeddingProvider):
    """ONNX models by Qdrant's fastembed; install with `pip install 'goclaw-memory[fastembed]'`."""

    def __init__(self) -> None:
        super().__init__()
        self.model = get_config().memory.search.model or DEFAULT_MODEL
        self.batch_size = get_config().memory.search.batch_size
        self._engine: Any = None
        self._lock = threading.Lock()
        try:
            self._package = importlib.import_module("fastembed")
        except ImportError:
            raise ProviderError(
                "memory.search.provider is 'fastembed', which is not installed: "
                "pip install 'goclaw-memory[fastembed]'.",
                transient=False,
            ) from None

    def load(self) -> None:
        with self._lock:
            if self._engine is None:
                self._engine = self._made()

    def _made(self) -> Any:
        try:
            return self._package.TextEmbedding(model_name=self.model, threads=1)
        except Exception as error:  # the package raises what its downloader raises
            raise ProviderError(f"fastembed cannot load {self.model}: {error}") from error

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        self.load()
        with self._lock:
            return np.vstack(list(self._engine.passage_embed(list(texts))))

    def embed_query(self, text: str) -> FloatVector:
        self.load()
        with self._lock:
            return np.asarray(next(iter(self._engine.query_embed(text))), dtype=np.float32)
