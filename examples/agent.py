"""An agent in forty lines: a loop around a model, with the tools of the memory."""

import json
import os
import sys
from typing import Any
from urllib.request import Request, urlopen

MEMORY = os.environ.get("GOCLAW_URL", "http://localhost:8000") + "/api/agents/default/tools/"
MODEL = os.environ.get("MODEL_URL", "http://localhost:8099/v1") + "/chat/completions"
RULES = "Search your memory before you answer. Write down what you learn about the person."


def call(url: str, key: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urlopen(Request(url, data, headers), timeout=60) as answer:
        return json.load(answer)


def use(tool: str, key: str, arguments: Any) -> Any:
    try:
        return call(f"{MEMORY}{tool}/", key, arguments)
    except OSError as error:  # a refusal has its reason, and maybe a hint, in the body
        return error.read().decode() if hasattr(error, "read") else str(error)


def run(prompt: str, key: str, model_key: str) -> str:
    tools = [
        {"name": one["name"], "description": one["description"], "parameters": one["input_schema"]}
        for one in call(MEMORY, key)["results"]
    ]
    offered = [{"type": "function", "function": tool} for tool in tools]
    said: list[Any] = [{"role": "system", "content": RULES}, {"role": "user", "content": prompt}]
    for _ in range(8):
        asked = {"model": os.environ.get("MODEL", "any"), "messages": said, "tools": offered}
        reply = call(MODEL, model_key, asked)["choices"][0]["message"]
        said.append(reply)
        if not reply.get("tool_calls"):
            return str(reply["content"])
        for one in reply["tool_calls"]:
            result = use(one["function"]["name"], key, json.loads(one["function"]["arguments"]))
            said += [{"role": "tool", "tool_call_id": one["id"], "content": json.dumps(result)}]
    return "I did not come to an end."


if __name__ == "__main__":
    print(
        run(" ".join(sys.argv[1:]), os.environ["GOCLAW_API_KEY"], os.environ.get("MODEL_KEY", ""))
    )
