"""HTTP to providers: one host, no redirects, an end to every answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeVar

import httpx2

from memory.providers.failures import (
    NONSENSE,
    OVERSIZED,
    SLOW,
    UNREACHABLE,
    CallFailed,
    from_status,
)

#: An answer of a chat model is some hundred kilobytes at most; one of embeddings is larger.
CHAT_BYTES = 8_000_000
EMBEDDING_BYTES = 128_000_000
_SECONDS = 60.0

T = TypeVar("T")


class _Bounded(httpx2.SyncByteStream):
    """A body that ends at a size and at a time: a server that drips would hold us for ever."""

    def __init__(self, body: httpx2.SyncByteStream, who: str, most: int, end: float) -> None:
        self._body, self._who, self._most, self._end = body, who, most, end

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._body:
            size += len(chunk)
            if size > self._most:
                raise CallFailed(self._who, OVERSIZED, f"answered over {self._most:,} bytes")
            if time.monotonic() > self._end:
                raise CallFailed(self._who, SLOW, "did not answer in time")
            yield chunk

    def close(self) -> None:
        """Give the connection back."""
        self._body.close()


def client(who: str, most: int) -> httpx2.Client:
    """Return a client whose answers are at most `most` bytes; `who` begins its errors."""

    def asked(request: httpx2.Request) -> None:
        # The size of a compressed body is not that of what it unfolds to.
        request.headers["accept-encoding"] = "identity"
        request.extensions["sent_at"] = time.monotonic()

    def answered(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise CallFailed(who, NONSENSE, "answered compressed though asked not to")
        request = response.request
        seconds = request.extensions.get("timeout", {}).get("read") or _SECONDS
        end = request.extensions["sent_at"] + seconds
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, who, most, end)

    hooks: dict[str, list[Callable[..., None]]] = {"request": [asked], "response": [answered]}
    return httpx2.Client(follow_redirects=False, event_hooks=hooks)


def speak(who: str, sdk: ModuleType, call: Callable[[], T]) -> T:
    """Call through an SDK; whatever happens is a CallFailed that repeats nothing of an answer."""
    try:
        return call()
    except CallFailed:
        raise
    except Exception as error:
        raise _translated(who, sdk, error) from None


def _translated(who: str, sdk: ModuleType, error: Exception) -> CallFailed:
    if isinstance(error.__cause__, CallFailed):
        return error.__cause__
    if isinstance(error, sdk.APIStatusError):
        headers = dict(error.response.headers)
        reason = _reason(error)
        told = bool(reason.get("message"))
        return from_status(who, error.status_code, headers, _code(reason), told)
    if isinstance(error, sdk.APITimeoutError):
        return CallFailed(who, SLOW, "did not answer in time")
    if isinstance(error, sdk.APIConnectionError):
        return CallFailed(who, UNREACHABLE, "cannot be reached")
    return CallFailed(who, NONSENSE, f"answered nonsense ({type(error).__name__})")


def _reason(error: Exception) -> dict[str, Any]:
    """Return what the provider says of the error; looked at, and never shown."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _code(reason: dict[str, Any]) -> str:
    return str(reason.get("code") or reason.get("type") or "")
