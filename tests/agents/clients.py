"""The official MCP client, over HTTP and stdio."""

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.agents.served import ROOT

DOORS = ("http", "http-legacy", "stdio")


@asynccontextmanager
async def connected(served, who, door="http", **headers):
    """A client of this person by that door; `legacy` is the protocol with a handshake."""
    if door == "stdio":
        target: Any = StdioServerParameters(
            command=sys.executable,
            args=[str(ROOT / "manage.py"), "mcp"],
            env=served.environment(who),
        )
        async with Client(target) as client:
            yield client
        return
    fields = {"Authorization": f"Bearer {served.keys[who]}", **headers}
    async with create_mcp_http_client(headers=fields) as http:
        target = streamable_http_client(served.mcp, http_client=http)
        mode = "legacy" if door == "http-legacy" else "auto"
        async with Client(target, mode=mode, read_timeout_seconds=60) as client:
            yield client


def using(served, who, door, work, **headers):
    """Run `work(client)`, an async function, and return what it returns."""

    async def run():
        async with connected(served, who, door, **headers) as client:
            return await work(client)

    return asyncio.run(run())
