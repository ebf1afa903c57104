"""Set-ups to copy: for Claude Code, other MCP clients, curl and Python."""

from __future__ import annotations

import json
from dataclasses import dataclass

#: What the first call writes and then asks for; no word is in both but small ones.
FIRST_MEMORY = "I drink my coffee black, and the first one before nine."
FIRST_QUESTION = "How do I take my coffee?"


@dataclass(frozen=True)
class Setup:
    """One way to connect. `steps` are said before the text that is copied."""

    id: str
    label: str
    steps: str
    text: str


def setups(address: str, key: str) -> tuple[Setup, ...]:
    """Return the ways in. `address` is the server's, with a slash at its end."""
    return (
        Setup(
            "claude",
            "Claude Code",
            "Run this in a terminal, then ask Claude: remember that I drink my coffee black.",
            f"claude mcp add --transport http goclaw {address}mcp \\\n"
            f'  --header "Authorization: Bearer {key}"',
        ),
        Setup(
            "clients",
            "Other MCP clients",
            "Put this into the client's MCP configuration. A client that only starts programs "
            "takes the command “goclaw mcp” with GOCLAW_API_KEY in its environment.",
            _configuration(address, key),
        ),
        Setup("curl", "curl", "Run this in a terminal: it writes, then asks.", _curl(address, key)),
        Setup(
            "python", "Python", "Save this and run it: it writes, then asks.", _python(address, key)
        ),
    )


def _configuration(address: str, key: str) -> str:
    server = {
        "type": "http",
        "url": f"{address}mcp",
        "headers": {"Authorization": f"Bearer {key}"},
    }
    return json.dumps({"mcpServers": {"goclaw": server}}, indent=2)


def _curl(address: str, key: str) -> str:
    head = f'-H "Authorization: Bearer {key}" -H "Content-Type: application/json"'
    return (
        f"curl -s {address}api/memory/ {head} \\\n"
        f"  -d '{json.dumps({'content': FIRST_MEMORY})}'\n\n"
        f"curl -s {address}api/memory/search/ {head} \\\n"
        f"  -d '{json.dumps({'query': FIRST_QUESTION})}'"
    )


def _python(address: str, key: str) -> str:
    return f"""import json
from urllib.request import Request, urlopen

def call(path, body):
    headers = {{"Authorization": "Bearer {key}", "Content-Type": "application/json"}}
    asked = Request("{address}api/memory/" + path, json.dumps(body).encode(), headers)
    with urlopen(asked) as answer:
        return json.load(answer)

call("", {{"content": {json.dumps(FIRST_MEMORY)}}})
for hit in call("search/", {{"query": {json.dumps(FIRST_QUESTION)}}})["results"]:
    print(hit["text"])"""
