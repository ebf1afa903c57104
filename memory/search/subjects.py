"""Whose words a record holds: the speaker named in its prefix, `[date] Speaker:`."""

from __future__ import annotations

from functools import lru_cache

from memory.text import terms


@lru_cache(maxsize=16_384)
def subject_terms(index_prefix: str) -> frozenset[str]:
    """Return the terms of the speaker; none where the prefix names nobody."""
    speaker = index_prefix.rpartition("]")[2].strip().rstrip(":")
    return frozenset(terms(speaker))
