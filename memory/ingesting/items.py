"""What reading gives: items and faults, and the checks that every text passes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

CONTENT_LIMIT = 200_000  # code points of one record


@dataclass(frozen=True)
class Item:
    """One record to be written, and the place it was read from. Times are aware, in UTC."""

    content: str
    source_kind: str
    source_id: str
    position: int
    index_prefix: str = ""
    occurred_at: datetime | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    kind: str | None = None
    domain: str | None = None
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True)
class Fault:
    """What was not read, as `file`, `file:line` or `file:line:column`, and why.

    `skipped`: left out on purpose and only told so that nobody wonders.
    """

    where: str
    reason: str
    skipped: bool = False


class WrongInput(ValueError):
    """A value that cannot be used; becomes the Fault of its file or line."""

    def __init__(self, reason: str, column: int | None = None) -> None:
        super().__init__(reason)
        self.column = column


def flaw_of(text: str) -> str:
    """What keeps a text out of every database, in words, or nothing."""
    if "\0" in text:
        return "a NUL character"
    return "a lone surrogate" if has_surrogate(text) else ""


def has_surrogate(text: str) -> bool:
    """Whether the text holds half of a surrogate pair, which no encoding can store."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
