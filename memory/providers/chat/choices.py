"""Which endpoint and model: kinds of providers, and what a choice consists of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

ANTHROPIC = "anthropic"
OPENAI = "openai"
GEMINI = "gemini"
OLLAMA = "ollama"
OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Kind:
    """A provider that people can name: how it is called, and where it answers by default."""

    name: str
    label: str
    base_url: str
    #: Whether it answers nobody without a key.
    needs_key: bool = True
    example: str = ""


KINDS = {
    kind.name: kind
    for kind in (
        Kind(ANTHROPIC, "Anthropic", "https://api.anthropic.com", example="claude-haiku-4-5"),
        Kind(
            OPENAI,
            "OpenAI, or a server that speaks its protocol",
            OPENAI_URL,
            needs_key=False,
            example="gpt-5.4-mini",
        ),
        Kind(
            GEMINI,
            "Google Gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            example="gemini-flash-latest",
        ),
        Kind(OLLAMA, "Ollama", "http://127.0.0.1:11434/v1", False, "qwen3:8b"),
    )
}


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
    def fingerprint(self) -> str:
        """What tells two choices apart, for keeping the client of one."""
        facts = (self.kind, self.model, self.base_url, self.key)
        text = repr((*facts, self.timeout_seconds, self.max_tokens))
        return hashlib.sha256(text.encode()).hexdigest()
