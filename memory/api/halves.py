"""The shared and the own records of a caller as one list for the pages of the API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, prefetch_related_objects

from memory.models import Memory


class Halves:
    """What a paginator asks of a queryset, answered by merging parts that share no record.

    Each part is read in order from one index; over all at once a database sorts everything.
    """

    def __init__(self, parts: Sequence[QuerySet[Memory]], *, newest_first: bool = True) -> None:
        self._parts = parts
        self._newest_first = newest_first

    def order_by(self, when: str, pk: str) -> Halves:
        """Return the list by time and id, both in the same direction."""
        parts = [part.order_by(when, pk) for part in self._parts]
        return Halves(parts, newest_first=when.startswith("-"))

    def filter(self, **wanted: Any) -> Halves:
        """Return what is left of the list."""
        parts = [part.filter(**wanted) for part in self._parts]
        return Halves(parts, newest_first=self._newest_first)

    def __getitem__(self, span: slice) -> list[Memory]:
        """Return records from one place to another, with tags and sources."""
        count = span.stop - span.start
        found: list[Memory] = []
        for part, start in zip(self._parts, self._passed(span.start), strict=True):
            found += part[start : start + count]
        found.sort(key=lambda row: (row.updated_at, row.pk), reverse=self._newest_first)
        rows = found[:count]
        prefetch_related_objects(rows, "tags", "sources")
        return rows

    def _passed(self, count: int) -> list[int]:
        """Return how many of the first records lie in each part; their texts are not read."""
        places: list[tuple[tuple[datetime, Any], int]] = []
        for at, part in enumerate(self._parts if count else ()):
            places += [(place, at) for place in part.values_list("updated_at", "pk")[:count]]
        places.sort(reverse=self._newest_first)
        passed = Counter(at for _, at in places[:count])
        return [passed[at] for at in range(len(self._parts))]
