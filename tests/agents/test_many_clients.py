"""Fifty MCP clients at once: no error, and afterwards the server is as small as before."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.agents.clients import connected
from tests.goclaw_site.running import until

CLIENTS, CALLS = 50, 20

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def sizes(pid):
    """Threads, resident memory in MB, open files and sockets of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    targets = [path.readlink().name for path in Path(f"/proc/{pid}/fd").iterdir()]
    return {
        "threads": int(fields["Threads"]),
        "memory": int(fields["VmRSS"].split()[0]) / 1024,
        "databases": sum("sqlite" in name for name in targets),
        "sockets": sum(name.startswith("socket") for name in targets),
    }


async def one(served, number):
    """A client's life: it connects, writes and searches, and goes."""
    took = []
    async with connected(served, "ann", "http" if number % 2 else "http-legacy") as client:
        for call in range(CALLS):
            began = time.perf_counter()
            if call % 4:
                answer = await client.call_tool("memory_search", {"query": f"client {number}"})
            else:
                content = f"Client {number} made call {call}."
                answer = await client.call_tool("memory_write", {"content": content})
            assert not answer.is_error, answer
            took.append(time.perf_counter() - began)
    return took


async def crowd(served):
    lives = await asyncio.gather(*(one(served, number) for number in range(CLIENTS)))
    return sorted(took for life in lives for took in life)


def test_fifty_clients_leave_no_trace(served, capsys):
    asyncio.run(one(served, 0))
    # The first crowd fills caches and pools; growth is what a second one adds.
    asyncio.run(crowd(served))
    before = sizes(served.pid)
    began = time.perf_counter()
    took = asyncio.run(crowd(served))
    seconds = time.perf_counter() - began
    until(lambda: sizes(served.pid)["sockets"] <= before["sockets"], 15)
    after = sizes(served.pid)
    with capsys.disabled():
        print(f"\n{CLIENTS} × {CALLS} calls in {seconds:.1f} s, {len(took) / seconds:.0f} a second")
        print(
            f"p50 {took[len(took) // 2] * 1000:.0f} ms, p99 {took[-len(took) // 100] * 1000:.0f} ms"
        )
        print(f"before {before}\nafter  {after}")
    assert len(took) == CLIENTS * CALLS
    for what in ("threads", "databases", "sockets"):
        assert after[what] <= before[what]
    assert after["memory"] < before["memory"] * 1.1 + 10
