"""Trying the providers with a tiny call: what the command, the page and operators look at."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from goclaw_site.config import get_config
from goclaw_site.errors import GoclawError
from memory import providers
from memory.providers import chat
from memory.providers.chat import asking, choosing
from memory.providers.chat.base import ChatProvider

EMBEDDINGS = "embeddings"
#: Somebody waits for a trial.
_SECONDS = 20.0
_SHOWN = 200
#: Room for models that think before they answer.
_TOKENS = 1024
_QUESTION = "Answer with the one word: ready"


@dataclass(frozen=True)
class Trial:
    """How a trial went. `said` is the beginning of what came back, `kind` of failure it was."""

    part: str
    provider: str
    model: str
    ok: bool
    words: str
    milliseconds: int = 0
    said: str = ""
    kind: str = ""
    configured: bool = True


def everything() -> list[Trial]:
    """Try the embedding provider and the models of both roles."""
    return [embeddings(), *(role(name) for name in choosing.ROLES)]


def role(name: str) -> Trial:
    """Try the model that serves a role; a role without one is not configured, and no failure."""
    provider = choosing.provider_for(name)
    if provider is not None:
        return model(provider, name)
    broken = bool(choosing.chosen(name).problem)
    return Trial(name, "", "", not broken, chat.why_none(name), configured=broken)


def model(provider: ChatProvider, part: str) -> Trial:
    """Try a model, whatever its circuit says; a success closes the circuit."""
    said, words, kind, spent = _timed(
        lambda: asking.try_out(provider, _QUESTION, _SECONDS, _TOKENS)
    )
    return Trial(
        part, provider.host, provider.model, not words, words or "It answers.", spent,
        said.strip()[:_SHOWN], kind,
    )  # fmt: skip


def embeddings() -> Trial:
    """Try the embedding provider."""
    name = get_config().memory.search.provider
    provider = providers.current()
    if provider is None:
        wanted = name != "none"
        return Trial(EMBEDDINGS, name, "", not wanted, providers.why_none(), configured=wanted)

    def call() -> str:
        return f"{provider.passages(['ready'])[0].shape[0]} dimensions"

    said, words, kind, spent = _timed(call)
    text = words or "It answers."
    return Trial(EMBEDDINGS, name, provider.model, not words, text, spent, said, kind)


def _timed(call: Callable[[], str]) -> tuple[str, str, str, int]:
    """Return what came back, else why nothing did and the kind of failure, and the milliseconds."""
    began = time.monotonic()
    said = words = kind = ""
    try:
        said = call()
    except GoclawError as error:
        words, kind = error.message, getattr(error, "kind", "")
    return said, words, kind, round((time.monotonic() - began) * 1000)
