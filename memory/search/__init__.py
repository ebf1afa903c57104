"""Search: policy first, two kinds of lists, pure ranking, then a last check by id."""

from memory.search.pipeline import SearchRequest, search
from memory.search.types import Explanation, Hit, Results

__all__ = ["Explanation", "Hit", "Results", "SearchRequest", "search"]
