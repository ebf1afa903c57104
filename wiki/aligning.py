"""Which parts of two sequences correspond: pure, and bounded for any input.

Common ends first, then what occurs once on both sides (patience), then what occurs equally often,
and an exact comparison only of what is small. What is left differs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

#: Elements looked at in one call, again and again in ever smaller stretches; then it stops looking.
WORK = 6_000_000
#: The exact comparison costs up to the third power of the length, so long stretches get none.
SMALL = 120

Block = tuple[int, int, int]
#: The beginning and end of a stretch on both sides.
_Range = tuple[int, int, int, int]


def matches(
    old: Sequence[Hashable], new: Sequence[Hashable], work: int | None = None
) -> list[Block]:
    """Return (place in old, place in new, length) of what corresponds, in order."""
    return list(_joined(_Aligner(old, new, WORK if work is None else work).pairs()))


class _Aligner:
    def __init__(self, old: Sequence[Hashable], new: Sequence[Hashable], work: int) -> None:
        self.old = old
        self.new = new
        self.work = work

    def pairs(self) -> list[tuple[int, int]]:
        """Return pairs of places, in order. A stack of stretches in place of a recursion."""
        found: list[tuple[int, int]] = []
        waiting: list[_Range] = [(0, len(self.old), 0, len(self.new))]
        while waiting:
            i1, i2, j1, j2 = waiting.pop()
            while i1 < i2 and j1 < j2 and self.old[i1] == self.new[j1]:
                found.append((i1, j1))
                i1, j1 = i1 + 1, j1 + 1
            while i1 < i2 and j1 < j2 and self.old[i2 - 1] == self.new[j2 - 1]:
                i2, j2 = i2 - 1, j2 - 1
                found.append((i2, j2))
            if i1 < i2 and j1 < j2:
                self._between((i1, i2, j1, j2), found, waiting)
        return sorted(found)

    def _between(self, where: _Range, found: list[tuple[int, int]], waiting: list[_Range]) -> None:
        i1, i2, j1, j2 = where
        anchors = self._anchors(where)
        if not anchors:
            found += self._exact(where)
            return
        found += anchors
        for i, j in anchors:
            waiting.append((i1, i, j1, j))
            i1, j1 = i + 1, j + 1
        waiting.append((i1, i2, j1, j2))

    def _anchors(self, where: _Range) -> list[tuple[int, int]]:
        i1, i2, j1, j2 = where
        self.work -= i2 - i1 + j2 - j1
        if self.work < 0:
            return []
        left, right = Counter(self.old[i1:i2]), Counter(self.new[j1:j2])
        once = {item for item, count in left.items() if count == 1 == right.get(item)}
        if once or (i2 - i1) <= SMALL >= (j2 - j1):
            return _ordered(self._paired(where, once))
        equal = {item for item, count in left.items() if count == right.get(item)}
        return _ordered(self._paired(where, equal))

    def _paired(self, where: _Range, items: set[Hashable]) -> list[tuple[int, int]]:
        """Pair the first occurrence with the first, the second with the second, and so on."""
        i1, i2, j1, j2 = where
        places: dict[Hashable, list[int]] = defaultdict(list)
        for j in range(j2 - 1, j1 - 1, -1):
            if self.new[j] in items:
                places[self.new[j]].append(j)
        return [(i, places[self.old[i]].pop()) for i in range(i1, i2) if self.old[i] in items]

    def _exact(self, where: _Range) -> list[tuple[int, int]]:
        i1, i2, j1, j2 = where
        cost = (i2 - i1) * (j2 - j1) * (i2 - i1 + j2 - j1) // 16
        if max(i2 - i1, j2 - j1) > SMALL or cost > self.work:
            return []
        self.work -= cost
        matcher = SequenceMatcher(None, self.old[i1:i2], self.new[j1:j2], autojunk=False)
        return [
            (i1 + block.a + step, j1 + block.b + step)
            for block in matcher.get_matching_blocks()
            for step in range(block.size)
        ]


def _ordered(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of pairs that rises on both sides; they rise in the first already."""
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(ends, j)
        before.append(tops[pile - 1] if pile else -1)
        if pile == len(ends):
            ends.append(j)
            tops.append(index)
        else:
            ends[pile], tops[pile] = j, index
    chain = []
    at = tops[-1] if tops else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _joined(pairs: list[tuple[int, int]]) -> Iterator[Block]:
    start = 0
    for at in range(1, len(pairs) + 1):
        follows = at < len(pairs) and pairs[at] == (pairs[at - 1][0] + 1, pairs[at - 1][1] + 1)
        if not follows:
            yield (*pairs[start], at - start)
            start = at
