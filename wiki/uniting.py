"""Two edits of one text put together where they touch different lines."""

from __future__ import annotations

from typing import Any

from merge3 import Merge3


def merge(base: str, mine: str, theirs: str) -> str | None:
    """Return the text with both changes, or None where they meet."""
    if theirs in (mine, base):
        return mine
    if mine == base:
        return theirs
    one, two, three = (text.splitlines(keepends=True) for text in (base, mine, theirs))
    groups: list[Any] = list(Merge3(one, two, three).merge_groups())
    if any(group[0] == "conflict" for group in groups):
        return None
    return "".join(line for group in groups for line in group[1])
