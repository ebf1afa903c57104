"""Two edits of one text put together where they touch different lines."""

from __future__ import annotations

from wiki import merging


def merge(base: str, mine: str, theirs: str) -> str | None:
    """Return the text with both changes, or None where they meet."""
    merged = merging.merge(base, mine, theirs)
    return merged.text if merged.clean else None
