"""Claude models by Anthropic's SDK; the form of an answer is a tool that must be used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

from memory.providers.chat.base import PLAIN, SCHEMA, Answer, ChatProvider, Request
from memory.providers.chat.choices import Choice
from memory.providers.failures import DECLINED, NONSENSE, CallFailed
from memory.providers.outgoing import CHAT_BYTES, client, speak


class AnthropicProvider(ChatProvider):
    """The Messages API."""

    ways = (SCHEMA, PLAIN)

    def __init__(self, choice: Choice) -> None:
        super().__init__(choice)
        self._choice = choice

    @cached_property
    def _client(self) -> Any:
        """The SDK is loaded by the first call: asking what serves costs nothing."""
        return import_module("anthropic").Anthropic(
            api_key=self._choice.key or "none",
            base_url=self._choice.base_url,
            max_retries=0,
            http_client=client(self.who, CHAT_BYTES),
        )

    def send(self, request: Request, way: str, seconds: float) -> Answer:
        """Make one call."""
        sdk = import_module("anthropic")
        return speak(self.who, sdk, lambda: self._send(request, way, seconds))

    def _send(self, request: Request, way: str, seconds: float) -> Answer:
        said = self._client.messages.create(
            model=self.model,
            max_tokens=request.max_tokens,
            messages=[{"role": turn.role, "content": turn.text} for turn in request.messages],
            timeout=seconds,
            **_options(request, way),
        )
        if said.stop_reason == "refusal":
            raise CallFailed(self.who, DECLINED, "declined to answer")
        blocks = list(said.content)
        value = next((block.input for block in blocks if block.type == "tool_use"), None)
        text = "".join(block.text for block in blocks if block.type == "text")
        if value is None and not text:
            raise CallFailed(self.who, NONSENSE, "answered nothing")
        return Answer(
            text=text,
            value=value,
            input_tokens=_input_tokens(said.usage),
            output_tokens=int(said.usage.output_tokens or 0),
            truncated=said.stop_reason == "max_tokens",
        )


def _options(request: Request, way: str) -> dict[str, Any]:
    options: dict[str, Any] = {"system": request.system} if request.system else {}
    form = request.form
    if way == SCHEMA and form is not None:
        tool: Mapping[str, Any] = {
            "name": form.name, "description": form.about, "input_schema": form.json_schema,
        }  # fmt: skip
        options |= {"tools": [tool], "tool_choice": {"type": "tool", "name": form.name}}
    return options


def _input_tokens(usage: Any) -> int:
    """Return all that was read: the cached parts stand in fields of their own."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(int(getattr(usage, name, 0) or 0) for name in names)
