"""How a provider fails: a kind for machines, words for people, never a word of theirs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from goclaw_site.errors import ProviderError

UNREACHABLE = "unreachable"
SLOW = "slow"
BUSY = "busy"
BROKEN = "broken"
KEY = "key"
CREDIT = "credit"
MISSING = "missing"
ADDRESS = "address"
REJECTED = "rejected"
REDIRECTED = "redirected"
NONSENSE = "nonsense"
OVERSIZED = "oversized"
DECLINED = "declined"
UNUSABLE = "unusable"
RESTING = "resting"
KINDS = (
    UNREACHABLE, SLOW, BUSY, BROKEN, KEY, CREDIT, MISSING, ADDRESS, REJECTED, REDIRECTED, NONSENSE,
    OVERSIZED, DECLINED, UNUSABLE, RESTING,
)  # fmt: skip

#: What asking again in a moment may mend.
_SOON = (UNREACHABLE, SLOW, BUSY, BROKEN)
#: What lies in one request, not in the provider: later tries of the same fail alike.
_LASTING = (REJECTED, DECLINED, UNUSABLE)

_WORDS = {
    KEY: "does not accept the key",
    CREDIT: "says that no credit is left",
    MISSING: "does not know this model",
    ADDRESS: "has nothing there, so the address is not that of the API",
    REJECTED: "refuses the request",
    REDIRECTED: "sends elsewhere, and redirects are not followed",
    BUSY: "is asked too often",
    BROKEN: "fails",
}


class CallFailed(ProviderError):
    """A call that brought nothing usable. `retry_after` is what the provider asks for, seconds."""

    def __init__(self, who: str, kind: str, words: str, retry_after: float | None = None) -> None:
        super().__init__(f"{who} {words}.", transient=kind not in _LASTING)
        self.kind = kind
        self.retry_after = retry_after

    @property
    def soon(self) -> bool:
        """Whether asking again in a moment may do."""
        return self.kind in _SOON

    @property
    def of_the_provider(self) -> bool:
        """Whether the provider failed, not one request: such failures count for the circuit."""
        return self.kind not in (*_LASTING, OVERSIZED, RESTING)


def from_status(
    who: str, status: int, headers: Mapping[str, str], code: str = "", told: bool = True
) -> CallFailed:
    """Return the failure that a status means.

    `code` is the provider's own word for it; `told` says whether an API gave a reason at all.
    """
    kind = _kind(status, code, told)
    phrase = _WORDS[kind]
    return CallFailed(who, kind, f"answered HTTP {status}: it {phrase}", retry_after(headers))


def _kind(status: int, code: str, told: bool) -> str:
    if status == HTTPStatus.PAYMENT_REQUIRED or code == "insufficient_quota":
        return CREDIT
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return KEY
    if status == HTTPStatus.NOT_FOUND:
        return MISSING if told else ADDRESS
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return BUSY
    if status >= 500 or status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT):
        return BROKEN
    return REDIRECTED if 300 <= status < 400 else REJECTED


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header; None where there is none, or nonsense."""
    given = headers.get("retry-after", "").strip()
    try:
        seconds = float(given)
    except ValueError:
        return _until(given)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _until(date: str) -> float | None:
    try:
        return max(parsedate_to_datetime(date).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return None
