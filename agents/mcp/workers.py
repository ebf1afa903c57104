"""A few threads for work on the database: never on the event loop, never more than so many."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar

from django.db import close_old_connections, connections

from goclaw_site.errors import Unavailable

_Result = TypeVar("_Result")
_Work = tuple["Future[Any]", Callable[[], Any]]

#: Calls that wait; a server that is further behind says so instead of letting agents hang.
MAX_WAITING = 500
_PATIENCE = 5.0


class Workers:
    """Use as a context. Each thread keeps its connection and closes it when the threads end."""

    def __init__(self, threads: int) -> None:
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads = [
            Thread(target=self._work, name=f"mcp-{number + 1}", daemon=True)
            for number in range(threads)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            # A call that hangs must not hold up the end of the process.
            thread.join(_PATIENCE)

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns. Cancelled before a thread has taken it, it never runs.

        Raises Unavailable where too much waits already.
        """
        if self._queue.qsize() >= MAX_WAITING:
            raise Unavailable("The server is busy. Try again in a few seconds.")
        future: Future[_Result] = Future()
        self._queue.put((future, work))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        try:
            while (item := self._queue.get()) is not None:
                _do(*item)
                # A traceback or a result must not live on while the thread waits.
                del item
        finally:
            connections.close_all()


def _do(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    close_old_connections()
    try:
        result = work()
    except BaseException as error:
        # Whatever it is belongs to the caller, who waits for it.
        future.set_exception(error)
    else:
        future.set_result(result)
