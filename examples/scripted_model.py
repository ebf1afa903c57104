"""A model that follows a script: it speaks OpenAI's protocol, and needs no key and no network."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def reply(messages: list[Any]) -> dict[str, Any]:
    """Search first; write what it is told to remember; then answer from what came back."""
    prompt = next(m["content"] for m in reversed(messages) if m["role"] == "user")
    results = [json.loads(m["content"]) for m in messages if m["role"] == "tool"]
    if prompt.lower().startswith("remember that "):
        if results:
            return {"content": "I will remember that."}
        return _tool("memory_write", {"content": prompt[len("remember that ") :]})
    if not results:
        return _tool("memory_search", {"query": prompt})
    found = results[-1].get("results", []) if isinstance(results[-1], dict) else []
    return {"content": found[0]["text"] if found else "I do not know."}


def _tool(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


class Handler(BaseHTTPRequestHandler):
    """`POST /v1/chat/completions` and nothing else."""

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        asked = json.loads(self.rfile.read(length))
        message = {"role": "assistant", **reply(asked["messages"])}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        self._answer({"object": "chat.completion", "model": asked["model"], "choices": [choice]})

    def _answer(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8099
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
