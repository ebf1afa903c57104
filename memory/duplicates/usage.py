"""Which words are in use, as the keyword index tells: a slip of the pen is not."""

from __future__ import annotations

from functools import lru_cache

from memory.duplicates.likeness import Known
from memory.filters import Filters
from memory.search import backends
from memory.search.backends.base import Reach
from memory.text import stem

#: Chunks that hold a word which is no slip; the two texts at hand may both hold one.
IN_USE = 3


def words_in_use(access: str) -> Known:
    """Return what tells whether a word is in use among the chunks of one scope and owner."""
    reach = Reach(frozenset({access}), Filters())

    @lru_cache(maxsize=4096)
    def known(word: str) -> bool:
        term = stem(word)
        counted = backends.current().statistics([term], reach).holding
        return counted.get(term, 0) >= IN_USE

    return known
