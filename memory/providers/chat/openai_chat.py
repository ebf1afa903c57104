"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Gemini, Ollama, vLLM."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

from memory.providers.chat.base import JSON, PLAIN, SCHEMA, Answer, ChatProvider, Form, Request
from memory.providers.chat.choices import OPENAI_URL, Choice, host
from memory.providers.failures import DECLINED, NONSENSE, CallFailed
from memory.providers.outgoing import CHAT_BYTES, client, speak


class OpenAIChatProvider(ChatProvider):
    """Chat completions by the official SDK."""

    ways = (SCHEMA, JSON, PLAIN)

    def __init__(self, choice: Choice) -> None:
        super().__init__(choice)
        self._choice = choice
        self._most = "max_tokens"
        if host(choice.base_url) == host(OPENAI_URL):
            self._most = "max_completion_tokens"

    @cached_property
    def _client(self) -> Any:
        """The SDK is loaded by the first call: asking what serves costs nothing."""
        return import_module("openai").OpenAI(
            # Servers without keys are given a word in its place: the SDK insists on one.
            api_key=self._choice.key or "none",
            organization="",
            project="",
            base_url=self._choice.base_url,
            max_retries=0,
            http_client=client(self.who, CHAT_BYTES),
        )

    def send(self, request: Request, way: str, seconds: float) -> Answer:
        """Make one call."""
        sdk = import_module("openai")
        return speak(self.who, sdk, lambda: self._send(request, way, seconds))

    def _send(self, request: Request, way: str, seconds: float) -> Answer:
        said = self._client.chat.completions.create(
            model=self.model,
            messages=_messages(request),
            timeout=seconds,
            **self._options(request, way),
        )
        if not said.choices:
            raise CallFailed(self.who, NONSENSE, "answered nothing")
        first = said.choices[0]
        if first.finish_reason == "content_filter" or first.message.refusal:
            raise CallFailed(self.who, DECLINED, "declined to answer")
        if not first.message.content:
            raise CallFailed(self.who, NONSENSE, "answered nothing")
        return Answer(
            text=first.message.content,
            input_tokens=int(getattr(said.usage, "prompt_tokens", 0) or 0),
            output_tokens=int(getattr(said.usage, "completion_tokens", 0) or 0),
            truncated=first.finish_reason == "length",
        )

    def _options(self, request: Request, way: str) -> dict[str, Any]:
        return {self._most: request.max_tokens, **_form(request, way)}


def _messages(request: Request) -> Any:
    turns = [{"role": turn.role, "content": turn.text} for turn in request.messages]
    return [{"role": "system", "content": request.system}, *turns] if request.system else turns


def _form(request: Request, way: str) -> dict[str, Any]:
    if request.form is None or way == PLAIN:
        return {}
    if way == JSON:
        return {"response_format": {"type": "json_object"}}
    return {"response_format": {"type": "json_schema", "json_schema": _strict(request.form)}}


def _strict(form: Form) -> dict[str, Any]:
    """Return the schema as strict mode wants it: every property required, nothing beside them."""
    made = import_module("openai").pydantic_function_tool(form.schema, name=form.name)
    return {
        "name": form.name,
        "schema": _undefaulted(made["function"]["parameters"]),
        "strict": True,
    }


def _undefaulted(schema: Any) -> Any:
    """Return it without defaults, which strict mode refuses: every property is given anyway."""
    if isinstance(schema, list):
        return [_undefaulted(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        word: {name: _undefaulted(one) for name, one in inner.items()}
        if word in ("properties", "$defs")
        else _undefaulted(inner)
        for word, inner in schema.items()
        if word != "default"
    }
