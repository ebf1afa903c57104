"""Which chat models serve: the configuration first, then what an administrator chose."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from goclaw_site.config import get_config
from goclaw_site.configmodel import ChatModel
from memory.providers.chat.base import ChatProvider
from memory.providers.chat.choices import ANTHROPIC, GEMINI, KINDS, Choice

AGENT = "agent"
BACKGROUND = "background"
ROLES = (AGENT, BACKGROUND)

#: Where a choice comes from.
CONFIGURED = "configured"
BY_GEMINI = "gemini"
AS_AGENT = "agent"
NONE = "none"

_lock = threading.Lock()
_made: dict[str, ChatProvider] = {}
_served: dict[str, ChatProvider | None] = {}


@dataclass(frozen=True)
class Chosen:
    """A role's model, or none, and where that was decided."""

    choice: Choice | None
    origin: str


def chosen(role: str) -> Chosen:
    """Return what serves a role."""
    found = _own(role)
    if found is not None:
        return found
    if role == AGENT:
        return Chosen(None, NONE)
    gemini = _gemini()
    if gemini is not None:
        return Chosen(gemini, BY_GEMINI)
    agent = chosen(AGENT)
    return Chosen(agent.choice, AS_AGENT if agent.choice else NONE)


def provider_for(role: str) -> ChatProvider | None:
    """Return the provider of a role; its client is made once for each choice."""
    if role in _served:
        return _served[role]
    choice = chosen(role).choice
    return make(choice) if choice is not None else None


def make(choice: Choice) -> ChatProvider:
    """Return a provider for the choice, kept while the process lives."""
    with _lock:
        if choice.fingerprint not in _made:
            _made[choice.fingerprint] = _new(choice)
        return _made[choice.fingerprint]


def use(provider: ChatProvider | None, *roles: str) -> None:
    """Serve with this provider, or with none, whatever is configured: for tests."""
    _served.update(dict.fromkeys(roles or ROLES, provider))


def reset() -> None:
    """Forget everything made, so that the next call reads the configuration again."""
    with _lock:
        _served.clear()
        _made.clear()


def _new(choice: Choice) -> ChatProvider:
    # The SDKs take a second to import: only processes that call a model pay for it.
    if choice.kind == ANTHROPIC:
        from memory.providers.chat.anthropic_messages import AnthropicProvider

        return AnthropicProvider(choice)
    from memory.providers.chat.openai_chat import OpenAIChatProvider

    return OpenAIChatProvider(choice)


def _own(role: str) -> Chosen | None:
    ai = get_config().ai
    section = ai.agent if role == AGENT else ai.background
    if section.provider is None:
        return None
    return Chosen(None if section.provider == NONE else _of(section), CONFIGURED)


def _of(section: ChatModel) -> Choice:
    assert section.provider is not None
    return Choice(
        kind=section.provider,
        model=section.model,
        base_url=section.base_url or KINDS[section.provider].base_url,
        key=section.api_key.get_secret_value() if section.api_key else "",
        timeout_seconds=section.timeout_seconds,
        max_tokens=section.max_tokens,
    )


def _gemini() -> Choice | None:
    gemini = get_config().ai.gemini
    if gemini.api_key is None or not gemini.api_key.get_secret_value():
        return None
    key = gemini.api_key.get_secret_value()
    return Choice(GEMINI, gemini.model, KINDS[GEMINI].base_url, key)
