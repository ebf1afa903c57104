"""Asking a model: for words, or for an answer in a form, with one repair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from memory.providers.chat import circuit
from memory.providers.chat.accounts import Entry, JobId
from memory.providers.chat.base import USER, Answer, ChatProvider, Form, Message, Request
from memory.providers.chat.reading import Unreadable, cleaned, read_text, read_value
from memory.providers.failures import UNUSABLE, CallFailed

S = TypeVar("S", bound=BaseModel)
T = TypeVar("T")

#: The purpose of calls that try a model.
TRIAL = "trial"
#: How much of a wrong answer its author is shown again.
_SHOWN = 4_000


def ask(
    provider: ChatProvider,
    schema: type[S],
    *,
    system: str,
    prompt: str,
    purpose: str,
    job: JobId = None,
    max_tokens: int | None = None,
) -> S:
    """Return an answer in the form of the schema; it lasts at most twice the provider's timeout.

    An answer that does not fit is shown to the model once, with the reason. Every call is
    accounted for under `purpose`. Never call it inside a transaction. Raise CallFailed (a
    ProviderError), after which nothing is changed and the same may be asked later.
    """
    request = Request(
        messages=(Message(USER, cleaned(prompt)),),
        system=cleaned(system),
        max_tokens=max_tokens or provider.max_tokens,
        form=Form(schema),
    )
    read = _reader(schema)
    try:
        return _asked(provider, request, read, purpose, job)
    except Unreadable as error:
        repair = _repair(request, error)
    try:
        return _asked(provider, repair, read, purpose, job)
    except Unreadable:
        words = "gave an answer that cannot be used, and again when shown why"
        raise CallFailed(provider.who, UNUSABLE, words) from None


def complete(
    provider: ChatProvider,
    messages: Sequence[Message],
    *,
    purpose: str,
    system: str = "",
    job: JobId = None,
    max_tokens: int | None = None,
) -> Answer:
    """Return what the model says next, at most after the provider's timeout. Raise CallFailed."""
    request = Request(
        messages=tuple(replace(turn, text=cleaned(turn.text)) for turn in messages),
        system=cleaned(system),
        max_tokens=max_tokens or provider.max_tokens,
    )
    answer = _asked(provider, request, lambda said: said, purpose, job)
    return replace(answer, text=cleaned(answer.text))


def try_out(provider: ChatProvider, question: str, seconds: float, max_tokens: int) -> str:
    """Return what a model says, past an open circuit, which a success closes. Raise CallFailed."""
    request = Request(messages=(Message(USER, question),), max_tokens=max_tokens)
    entry = Entry(provider, TRIAL, None)
    try:
        answer = provider.answer(request, seconds)
    except CallFailed as error:
        # A key that is only being tried says nothing about the model that serves.
        entry.failed(error.kind)
        raise
    circuit.succeeded(provider)
    entry.answered(answer)
    return str(cleaned(answer.text))


def _asked(
    provider: ChatProvider,
    request: Request,
    read: Callable[[Answer], T],
    purpose: str,
    job: JobId,
) -> T:
    """Make one call where the circuit lets it through, and read the answer."""
    circuit.enter(provider)
    entry = Entry(provider, purpose, job)
    try:
        answer = provider.answer(request)
    except CallFailed as error:
        circuit.failed(provider, error)
        entry.failed(error.kind)
        raise
    circuit.succeeded(provider)
    try:
        value = read(answer)
    except Unreadable:
        entry.unusable(answer)
        raise
    entry.answered(answer)
    return value


def _reader(schema: type[S]) -> Callable[[Answer], S]:
    def read(answer: Answer) -> S:
        try:
            if answer.value is not None and not answer.truncated:
                return read_value(answer.value, schema)
            return read_text(answer.text, schema, truncated=answer.truncated)
        except Unreadable as error:
            error.answer = answer.text or repr(answer.value)
            raise

    return read


def _repair(request: Request, error: Unreadable) -> Request:
    """Put the same again, with the answer and what is wrong with it; no wire's turns differ."""
    asked = request.messages[-1]
    text = (
        f"{asked.text}\n\nYou answered this before:\n<answer>\n{error.answer[:_SHOWN]}\n</answer>\n"
        f"It cannot be used: {error}\nAnswer again, in the form that is asked for."
    )
    return replace(request, messages=(*request.messages[:-1], Message(USER, cleaned(text))))
