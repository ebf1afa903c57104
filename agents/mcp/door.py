"""The HTTP side: host, key, size, and a caller who goes away; then the SDK's own transport."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from agents.addresses import client_address
from agents.mcp import callers, server
from agents.mcp.workers import Workers
from goclaw_site.config import get_config
from goclaw_site.errors import (
    GoclawError,
    InvalidInput,
    NotFound,
    Refused,
    Throttled,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from memory.access import Principal
from memory.api.errors import printable

logger = logging.getLogger(__name__)

#: Room for the longest record that can be configured, every character of it escaped.
MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_THREADS = 4
PATH = "/mcp"
_PRINCIPAL = "goclaw.principal"


class Door:
    """An ASGI application. It serves within its `lifespan` alone."""

    def __init__(self) -> None:
        self._workers: Workers | None = None
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Start the threads and the SDK's manager, and stop them."""
        threads = min(get_config().server.threads, MAX_THREADS)
        with Workers(threads) as workers:
            manager = StreamableHTTPSessionManager(
                server.build(workers, _asker),
                json_response=True,
                stateless=True,
                max_request_body_size=MAX_BODY_BYTES,
            )
            async with manager.run():
                self._workers, self._manager = workers, manager
                try:
                    yield
                finally:
                    self._workers = self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; every refusal is JSON with its reason."""
        try:
            await self._serve(scope, receive, send)
        except GoclawError as error:
            await _refuse(send, error)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        _require_host(headers)
        if not scope["path"].rstrip("/").endswith(PATH):
            raise NotFound("There is nothing at this address.")
        workers, manager = self._workers, self._manager
        if workers is None or manager is None:
            raise Unavailable("The server is starting or stopping.")
        address = _address(scope, headers)
        principal = await workers.run(lambda: callers.for_headers(headers, address))
        if scope["method"] != "POST":
            # Stateless: there is no stream to listen to and no session to end.
            await _answer(send, 405, {"detail": "Use POST.", "code": "method"}, {"allow": "POST"})
            return
        body = await _body(headers, receive)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
            await manager.asgi_app({**scope, _PRINCIPAL: principal}, _replay(body), send)
            tasks.cancel_scope.cancel()


def _asker(context: server.Context) -> Principal:
    assert context.request is not None
    principal: Principal = context.request.scope[_PRINCIPAL]
    return principal


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers; one that matters and comes twice is not guessed at."""
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        if name in headers and name in ("authorization", "host", "x-goclaw-context"):
            raise InvalidInput(f"{name} is given twice.", field=name)
        joined = f"{headers[name]}, " if name in headers else ""
        headers[name] = joined + value.decode("latin-1")
    return headers


def _require_host(headers: Mapping[str, str]) -> None:
    """Django's own rule; a page of another site cannot reach in by rebinding a name."""
    domain, _ = split_domain_port(headers.get("host", ""))
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise InvalidInput(
            "This server is not set up for the host name in the address. An operator can add it to "
            "server.allowed_hosts."
        )
    origin = headers.get("origin")
    if origin is None:
        return
    try:
        site = urlsplit(origin).hostname or ""
    except ValueError:
        site = ""
    if not validate_host(f"[{site}]" if ":" in site else site, settings.ALLOWED_HOSTS):
        raise Refused("Pages of other sites may not call this server.")


def _address(scope: Scope, headers: Mapping[str, str]) -> str:
    """Ask the rule that the API asks; it reads a request of Django's."""
    client = scope.get("client")
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = client[0] if client else ""
    if "x-forwarded-for" in headers:
        request.META["HTTP_X_FORWARDED_FOR"] = headers["x-forwarded-for"]
    return client_address(request)


async def _body(headers: Mapping[str, str], receive: Receive) -> bytes:
    limit = MAX_BODY_BYTES // 1024**2
    error = TooLarge(f"The request is larger than {limit} MiB. Send it in parts.")
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
        raise error
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise InvalidInput("The request ended early.")
        part: bytes = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise error
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not messages:
            await anyio.sleep_forever()
        return messages.pop()

    return receive


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    """A caller that hangs up has cancelled: what has not begun is dropped."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _refuse(send: Send, error: GoclawError) -> None:
    headers = {}
    if isinstance(error, Unauthorized):
        headers["www-authenticate"] = 'Bearer realm="goclaw"'
    if isinstance(error, Throttled):
        headers["retry-after"] = str(error.retry_after)
    await _answer(send, error.status, printable(error.as_dict()), headers)


async def _answer(send: Send, status: int, body: Any, headers: Mapping[str, str]) -> None:
    text = json.dumps(body).encode()
    fields = {"content-type": "application/json", "content-length": str(len(text)), **headers}
    listed = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": text})
