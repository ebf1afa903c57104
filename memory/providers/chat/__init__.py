"""Chat models: which one serves what, and the ways to ask it.

    provider = chat.background()
    if provider is None:
        return  # `chat.why_none()` says why, for people
    verdict = chat.ask(provider, Verdict, system=..., prompt=..., purpose="judge", job=job)

A schema is a pydantic model whose fields say in their descriptions what they mean. Keep it
closed (`extra="forbid"`, `Literal` for choices), so that a wrong answer cannot pass.
"""

from __future__ import annotations

from memory.providers.chat import choosing, circuit
from memory.providers.chat.asking import ask, complete
from memory.providers.chat.base import ASSISTANT, USER, Answer, ChatProvider, Message
from memory.providers.chat.choosing import (
    AGENT,
    BACKGROUND,
    ROLES,
    provider_for,
    reset,
    served,
    use,
)
from memory.providers.failures import CallFailed

__all__ = [
    "AGENT",
    "ASSISTANT",
    "BACKGROUND",
    "ROLES",
    "USER",
    "Answer",
    "CallFailed",
    "ChatProvider",
    "Message",
    "agent_model",
    "ask",
    "background",
    "circuit",
    "complete",
    "provider_for",
    "reset",
    "served",
    "use",
    "why_none",
]


def background() -> ChatProvider | None:
    """Return the model for background work, or None where none is set."""
    return choosing.provider_for(BACKGROUND)


def agent_model() -> ChatProvider | None:
    """Return the model that agents talk with, or None where none is set."""
    return choosing.provider_for(AGENT)


def why_none(role: str = BACKGROUND) -> str:
    """Return why a role has no model, in words for people; empty where it has one."""
    if choosing.served(role) is not None:
        return ""
    found = choosing.chosen(role)
    if found.problem:
        return found.problem
    if found.origin == choosing.CONFIGURED:
        return f"ai.{role}.provider is 'none', so the features that need a model are off."
    return "No chat model is set; an administrator can set one on the page Models."
