"""The stdio side: one client, one key, until standard input ends."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from agents.contexts import CallContext
from agents.mcp import callers, server
from agents.mcp.workers import Workers
from agents.principals import NO_CONTEXT

_THREADS = 2


def serve(key: str, context: CallContext = NO_CONTEXT) -> None:
    """Serve until the client closes its end.

    The key is looked up at each call, so that revoking it ends this door too. Raises Unauthorized
    at once for a key that is not good now.
    """
    callers.for_text(key, context)
    with Workers(_THREADS) as workers:
        built = server.build(workers, lambda _: callers.for_text(key, context))
        anyio.run(_run, built)


async def _run(built: Server[dict[str, Any]]) -> None:
    async with stdio_server() as (received, sent):
        await built.run(received, sent, built.create_initialization_options())
