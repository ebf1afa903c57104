"""A real HTTP server that speaks OpenAI's embeddings, and misbehaves on request."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.memory.making import BagProvider

#: What a misbehaviour answers: status, content type, body, and perhaps further headers.
Answer = tuple[int, str, bytes] | tuple[int, str, bytes, dict[str, str]]
Behaviour = Callable[[dict[str, Any]], Answer]
JSON = "application/json"


class EmbeddingServer:
    """Answers with the vectors of `BagProvider` until `behaviour` says otherwise."""

    def __init__(self, dimensions: int = 48) -> None:
        self.engine = BagProvider(dimensions=dimensions)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.behaviour: Behaviour | None = None
        self.address = ""

    def answer(self, body: dict[str, Any]) -> Answer:
        self.requests.append(body)
        return (self.behaviour or self.well)(body)

    def well(self, body: dict[str, Any]) -> Answer:
        vectors = [self.engine.embed_query(text).tolist() for text in body["input"]]
        return vectors_as_json(vectors, body["model"])


def vectors_as_json(vectors: list[Any], model: str = "m") -> Answer:
    data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
    data.reverse()  # the order of an answer is that of its indexes, not of its list
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    body = {"object": "list", "data": data, "model": model, "usage": usage}
    return 200, JSON, json.dumps(body).encode()


def status(code: int, message: str = "no") -> Behaviour:
    return lambda body: (code, JSON, json.dumps({"error": {"message": message}}).encode())


@contextmanager
def serving(dimensions: int = 48) -> Iterator[EmbeddingServer]:
    """Listen on a free port of this machine until the block ends."""
    served = EmbeddingServer(dimensions)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            served.headers.append({name.lower(): text for name, text in self.headers.items()})
            code, kind, answer, *more = served.answer({**body, "path": self.path})
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(answer)))
            for name, text in more[0].items() if more else ():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            """Keep quiet."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    served.address = f"http://127.0.0.1:{listener.server_port}/v1"
    try:
        yield served
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join(10)
