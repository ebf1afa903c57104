"""Embedding providers: which one serves, made once a process."""

from __future__ import annotations

import logging
import threading

from goclaw_site.config import get_config
from goclaw_site.errors import ProviderError
from memory.providers.base import EmbeddingProvider

log = logging.getLogger(__name__)

_lock = threading.Lock()
_made: list[EmbeddingProvider | None] = []
_reason: list[str] = []


def current() -> EmbeddingProvider | None:
    """Return the configured provider, or None where search is by keyword alone."""
    if not _made:
        with _lock:
            if not _made:
                _made.append(_make())
    return _made[0]


def why_none() -> str:
    """Return why there is no provider, in words for people; empty where there is one."""
    return "" if current() else (_reason[0] if _reason else "memory.search.provider is 'none'.")


def preload() -> None:
    """Load the weights now: children forked afterwards share them."""
    provider = current()
    if provider is not None:
        provider.load()


def use(provider: EmbeddingProvider | None) -> None:
    """Serve with this provider, or with none, whatever is configured: for measurements."""
    with _lock:
        _made[:] = [provider]


def reset() -> None:
    """Forget the provider, so that the next call reads the configuration again."""
    with _lock:
        _made.clear()
        _reason.clear()


def _make() -> EmbeddingProvider | None:
    try:
        return _named(get_config().memory.search.provider)
    except ProviderError as error:
        log.warning("no embeddings, search is by keyword alone: %s", error.message)
        _reason.append(error.message)
        return None


def _named(name: str) -> EmbeddingProvider | None:
    if name == "none":
        return None
    if name == "local":
        from memory.providers.local import make_local

        return make_local()
    if name == "fastembed":
        from memory.providers.fastembed import FastEmbedProvider

        return FastEmbedProvider()
    from memory.providers.openai_compat import OpenAIProvider

    return OpenAIProvider()
