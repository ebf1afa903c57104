"""A real HTTP server that speaks both chat wires, from a script, with every fault of a network."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from pydantic import BaseModel

from tests.models import Lines, Script, as_text

JSON = "application/json"
#: Does anything with the connection in place of an answer.
Fault = Callable[["Speaking"], None]


class ModelServer:
    """Answers from its script in the wire that the path names; `fault` comes before it."""

    def __init__(self) -> None:
        self.lines = Lines(lambda prompt: "hello")
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.faults: list[Fault | None] = []
        self.fault: Fault | None = None
        self.address = ""
        #: Held-up answers go on when this is set.
        self.released = threading.Event()

    def script(self, script: Script) -> None:
        self.lines = Lines(script)

    def next_fault(self) -> Fault | None:
        return self.faults.pop(0) if self.faults else self.fault


class Speaking(BaseHTTPRequestHandler):
    """One request."""

    server_version = "scripted"
    protocol_version = "HTTP/1.1"

    @property
    def served(self) -> ModelServer:
        return cast("Listener", self.server).served

    def do_POST(self) -> None:
        self.close_connection = True
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.served.requests.append(self.body)
        self.served.paths.append(self.path)
        self.served.headers.append({name.lower(): text for name, text in self.headers.items()})
        fault = self.served.next_fault()
        if fault is not None:
            fault(self)
            return
        self.say(self.served.lines.next(_prompt(self.body)))

    def say(self, said: Any, **changes: Any) -> None:
        wire = anthropic_body if self.path.endswith("/messages") else openai_body
        self.send(200, json.dumps({**wire(said, self.body), **changes}).encode())

    def send(
        self, status: int, body: bytes, kind: str = JSON, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        named = {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}
        for name, text in named.items():
            self.send_header(name, text)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            return

    def end_headers(self) -> None:
        """Say that nothing follows: a client that kept the connection would find it closed."""
        self.send_header("Connection", "close")
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    served: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that hang up."""


def _prompt(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


def anthropic_body(said: Any, body: dict[str, Any]) -> dict[str, Any]:
    tools = body.get("tools")
    if tools and isinstance(said, (dict, BaseModel)):
        value = said.model_dump(mode="json") if isinstance(said, BaseModel) else said
        block: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": tools[0]["name"]}
        content, stop = [{**block, "input": value}], "tool_use"
    else:
        content, stop = [{"type": "text", "text": as_text(said)}], "end_turn"
    usage = {"input_tokens": 21, "output_tokens": 7, "cache_read_input_tokens": 4}
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": body["model"],
        "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def openai_body(said: Any, body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": as_text(said), "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 25, "completion_tokens": 7, "total_tokens": 32}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [choice], "usage": usage,
    }  # fmt: skip


def status(code: int, word: str = "", headers: dict[str, str] | None = None) -> Fault:
    """Answer with this status; the message repeats the key, as some providers do."""

    def fault(one: Speaking) -> None:
        key = one.headers.get("x-api-key") or one.headers.get("authorization", "")
        error = {"message": f"no: {key}", "type": word or "error", "code": word}
        one.send(code, json.dumps({"type": "error", "error": error}).encode(), headers=headers)

    return fault


def raw(body: bytes, kind: str = JSON, headers: dict[str, str] | None = None) -> Fault:
    return lambda one: one.send(200, body, kind, headers)


def cut_off(one: Speaking) -> None:
    """Say that the length was reached in the middle of an object."""
    said = '{"verdict": "replaces", "reason": "bec'
    if one.path.endswith("/messages"):
        one.say(said, stop_reason="max_tokens")
    else:
        body = openai_body(said, one.body)
        body["choices"][0]["finish_reason"] = "length"
        one.send(200, json.dumps(body).encode())


def refuses(one: Speaking) -> None:
    if one.path.endswith("/messages"):
        one.say("", stop_reason="refusal", content=[])
    else:
        body = openai_body("", one.body)
        body["choices"][0]["message"] |= {"content": None, "refusal": "I will not."}
        one.send(200, json.dumps(body).encode())


def empty(one: Speaking) -> None:
    name = "content" if one.path.endswith("/messages") else "choices"
    one.say("", **{name: []})


def held(one: Speaking) -> None:
    """Answer nothing until the test lets go."""
    one.served.released.wait(30)


def held_after_headers(one: Speaking) -> None:
    one.send_response(200)
    one.send_header("Content-Type", JSON)
    one.send_header("Content-Length", "500")
    one.end_headers()
    one.wfile.write(b'{"id":')
    one.wfile.flush()
    one.served.released.wait(30)


def dripping(one: Speaking) -> None:
    """Send a byte now and then, for ever: every single wait is a short one."""
    one.send_response(200)
    one.send_header("Content-Type", JSON)
    one.send_header("Content-Length", "100000")
    one.end_headers()
    while not one.served.released.wait(0.02):
        try:
            one.wfile.write(b" ")
            one.wfile.flush()
        except OSError:
            return


def huge(one: Speaking) -> None:
    """A body past any limit, in pieces."""
    piece = b" " * 1_000_000
    one.send_response(200)
    one.send_header("Content-Type", JSON)
    one.send_header("Content-Length", str(len(piece) * 40))
    one.end_headers()
    for _ in range(40):
        try:
            one.wfile.write(piece)
        except OSError:
            return


def nowhere(one: Speaking) -> None:
    """What a web server says that has no API there."""
    one.send(404, b"<html>Not Found</html>", "text/html")


def nowhere_in_json(one: Speaking) -> None:
    one.send(404, b'{"detail": "Not Found"}')


def hangs_up(one: Speaking) -> None:
    one.send_response(200)
    one.send_header("Content-Type", JSON)
    one.send_header("Content-Length", "500")
    one.end_headers()
    one.wfile.write(b'{"id": "c1", ')
    one.wfile.flush()


def hangs_up_at_once(one: Speaking) -> None:
    one.connection.close()


@contextmanager
def model_serving() -> Iterator[ModelServer]:
    """Listen on a free port of this machine until the block ends."""
    served = ModelServer()
    listener = Listener(("127.0.0.1", 0), Speaking)
    listener.served = served
    thread = threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    served.address = f"http://127.0.0.1:{listener.server_port}"
    try:
        yield served
    finally:
        served.released.set()
        listener.shutdown()
        listener.server_close()
        thread.join(10)
