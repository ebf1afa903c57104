"""Asking again: only what may mend soon, with growing and random pauses, within one time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from memory.providers.failures import CallFailed

ATTEMPTS = 3
#: Longest pause that a provider's Retry-After is followed for; beyond it the work is put off.
LONGEST_PAUSE = 20.0
#: Seconds without which another try is not worth its while.
_SHORTEST = 1.0

T = TypeVar("T")
_growing = wait_random_exponential(multiplier=0.5, max=4)


def patiently(
    call: Callable[[float], T], seconds: float, sleep: Callable[[float], None] | None = None
) -> T:
    """Call up to three times with the seconds that are left, all within `seconds`."""
    end = time.monotonic() + seconds

    def left() -> float:
        return max(end - time.monotonic(), 0.05)

    def over(state: RetryCallState) -> bool:
        return stop_after_attempt(ATTEMPTS)(state) or _pause(state) + _SHORTEST > left()

    again = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, CallFailed) and error.soon),
        stop=over, wait=_pause, sleep=sleep or pause, reraise=True,
    )  # fmt: skip
    return again(lambda: call(left()))


def pause(seconds: float) -> None:
    """Sleep; a name of its own, so that tests need not wait."""
    time.sleep(seconds)


def _pause(state: RetryCallState) -> float:
    """What the provider asks for, else a random one; too long a pause counts as no end."""
    failure = state.outcome.exception() if state.outcome else None
    asked = failure.retry_after if isinstance(failure, CallFailed) else None
    if asked is None:
        return _growing(state)
    return asked if asked <= LONGEST_PAUSE else float("inf")
