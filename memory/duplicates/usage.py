"""How often words are used, as the keyword index tells: a slip of the pen is rare."""

from __future__ import annotations

from functools import lru_cache

from memory.duplicates.likeness import Known
from memory.filters import Filters
from memory.search import backends
from memory.search.backends.base import Reach
from memory.text import stem


def usage_in(access: str) -> Known:
    """Return what tells how many chunks of one scope and owner hold a word."""
    reach = Reach(frozenset({access}), Filters())

    @lru_cache(maxsize=4096)
    def known(word: str) -> int:
        term = stem(word)
        counted = backends.current().statistics([term], reach).holding
        return counted.get(term, 0)

    return known
