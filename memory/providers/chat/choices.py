"""Which endpoint and model: kinds of providers, and what a choice consists of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

ANTHROPIC = "anthropic"
OPENAI = "openai"
GEMINI = "gemini"
OLLAMA = "ollama"
OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Kind:
    """A provider that people can name: its name in lists and in sentences, its own address."""

    name: str
    label: str
    speaks: str
    base_url: str
    #: Whether it answers nobody without a key.
    needs_key: bool = True
    example: str = ""


_ANTHROPIC_URL = "https://api.anthropic.com"
_GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai"
_OLLAMA_URL = "http://127.0.0.1:11434/v1"

KINDS = {
    kind.name: kind
    for kind in (
        Kind(ANTHROPIC, "Anthropic", "Anthropic", _ANTHROPIC_URL, example="claude-haiku-4-5"),
        Kind(
            OPENAI, "OpenAI, or a server that speaks its protocol", "OpenAI's protocol", OPENAI_URL,
            needs_key=False, example="gpt-5.4-mini",
        ),
        Kind(GEMINI, "Google Gemini", "Gemini", _GEMINI_URL, example="gemini-flash-latest"),
        Kind(OLLAMA, "Ollama", "Ollama", _OLLAMA_URL, needs_key=False, example="qwen3:8b"),
    )
}  # fmt: skip


class Served(Protocol):
    """What is known of a model without calling it: a choice, or a provider made of one."""

    @property
    def kind(self) -> str:
        """Which of KINDS it is."""

    @property
    def model(self) -> str:
        """Its name at the provider."""

    @property
    def host(self) -> str:
        """Where it answers."""

    @property
    def endpoint(self) -> str:
        """What failures and their pauses are counted by."""


@dataclass(frozen=True)
class Choice:
    """One model at one endpoint, wherever it was chosen. The key is in no representation."""

    kind: str
    model: str
    base_url: str
    key: str = field(default="", repr=False)
    timeout_seconds: float = 50.0
    max_tokens: int = 4096

    @property
    def host(self) -> str:
        """Return the host for messages: an address may hold a name and a password."""
        return host(self.base_url)

    @property
    def endpoint(self) -> str:
        """Return what failures and their pauses are counted by."""
        return f"{self.kind} {self.host} {self.model}"[:200]

    @property
    def fingerprint(self) -> str:
        """What tells two choices apart, for keeping the client of one."""
        facts = (self.kind, self.model, self.base_url, self.key)
        text = repr((*facts, self.timeout_seconds, self.max_tokens))
        return hashlib.sha256(text.encode()).hexdigest()


def host(base_url: str) -> str:
    """Return the host for messages: an address may hold a name and a password."""
    parts = urlsplit(base_url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "(no host)"
