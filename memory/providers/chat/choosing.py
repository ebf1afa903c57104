"""Which chat models serve: the configuration, else what an administrator chose on the page."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from goclaw_site.config import get_config
from goclaw_site.configmemory import ChatModel
from goclaw_site.errors import ConfigError
from memory.providers.chat import saved
from memory.providers.chat.base import ChatProvider
from memory.providers.chat.choices import ANTHROPIC, GEMINI, KINDS, Choice, Served
from memory.providers.chat.saved import Saved

AGENT = "agent"
BACKGROUND = "background"
ROLES = (AGENT, BACKGROUND)

#: Where a choice comes from.
CONFIGURED = "configured"
ON_PAGE = "page"
BY_GEMINI = "gemini"
AS_AGENT = "agent"
NONE = "none"

#: Providers kept: both roles, and what they were before.
_KEPT = 4

_lock = threading.Lock()
_made: dict[str, ChatProvider] = {}
_served: dict[str, ChatProvider | None] = {}


@dataclass(frozen=True)
class Chosen:
    """A role's model, or none, where that was decided, and what is wrong with it in words."""

    choice: Choice | None
    origin: str
    problem: str = ""


def chosen(role: str) -> Chosen:
    """Return what serves a role; one query."""
    kept = saved.all_roles(ROLES)
    found = _own(role, kept)
    if found is not None:
        return found
    if role == AGENT:
        return Chosen(None, NONE)
    gemini = _gemini()
    if gemini is not None:
        return Chosen(gemini, BY_GEMINI)
    agent = _own(AGENT, kept) or Chosen(None, NONE)
    return Chosen(agent.choice, AS_AGENT if agent.choice else NONE, agent.problem)


def is_configured(role: str) -> bool:
    """Whether file or environment decide about a role, so that the page does not."""
    return _section(role).provider is not None


def provider_for(role: str) -> ChatProvider | None:
    """Return the provider of a role; its client is made once for each choice."""
    if role in _served:
        return _served[role]
    choice = chosen(role).choice
    return make(choice) if choice is not None else None


def served(role: str) -> Served | None:
    """Return what is known of a role's model, without loading an SDK for it."""
    return _served[role] if role in _served else chosen(role).choice


def make(choice: Choice) -> ChatProvider:
    """Return a provider for the choice; those of the last few choices are kept."""
    with _lock:
        if choice.fingerprint not in _made:
            _made[choice.fingerprint] = fresh(choice)
            for old in list(_made)[:-_KEPT]:
                del _made[old]
        return _made[choice.fingerprint]


def use(provider: ChatProvider | None, *roles: str) -> None:
    """Serve with this provider, or with none, whatever is configured: for tests."""
    _served.update(dict.fromkeys(roles or ROLES, provider))


def reset() -> None:
    """Forget everything made, so that the next call reads the configuration again."""
    with _lock:
        _served.clear()
        _made.clear()


def fresh(choice: Choice) -> ChatProvider:
    """Return a provider for the choice that nobody else uses."""
    # Even what leads to the SDKs takes time to import.
    if choice.kind == ANTHROPIC:
        from memory.providers.chat.anthropic_messages import AnthropicProvider

        return AnthropicProvider(choice)
    from memory.providers.chat.openai_chat import OpenAIChatProvider

    return OpenAIChatProvider(choice)


def _own(role: str, kept: Mapping[str, Saved]) -> Chosen | None:
    section = _section(role)
    if section.provider is None:
        return _on_page(kept.get(role))
    return Chosen(None if section.provider == NONE else _of(section), CONFIGURED)


def _section(role: str) -> ChatModel:
    ai = get_config().ai
    return ai.agent if role == AGENT else ai.background


def _on_page(kept: Saved | None) -> Chosen | None:
    if kept is None:
        return None
    try:
        return Chosen(saved.choice_of(kept), ON_PAGE)
    except ConfigError as error:
        return Chosen(None, ON_PAGE, f"{error.message} Set it again on the page Models.")


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
