"""What gateways say: contexts in headers and bodies, and what comes of them."""

import json
from typing import Any

from tests.api.callers import Answer, Caller

ANN = {"channel": "discord", "external_id": "1001", "display_name": "Ann"}
BEA = {"channel": "discord", "external_id": "1002", "display_name": "Bea"}


class Gateway(Caller):
    """A gateway key that speaks for somebody in every request; the context goes by header."""

    def __init__(self, key: str, **context: Any) -> None:
        super().__init__(key)
        self.context = context

    def send(self, method: str, path: str, body: Any = b"", **options: Any) -> Answer:
        headers = {"X-GoClaw-Context": json.dumps(self.context)} if self.context else {}
        return super().send(
            method, path, body, headers=headers | options.pop("headers", {}), **options
        )

    def saying(self, **context: Any) -> "Gateway":
        return Gateway(self.key, **(self.context | context))


def tags_of(caller: Caller, memory_id: str) -> list[str]:
    answer = caller.get(f"/api/memory/{memory_id}/")
    assert answer.status_code == 200, answer.content
    return list(answer.json()["tags"])
