"""Three-way merge of two people's edits of one text: pure, line by line.

What stands in all three texts holds them together. Between two such stretches at most one side has
changed something, or both have done the same, or it is a conflict (the rule of diff3: Khanna, Kunal
and Pierce, A Formal Investigation of Diff3, 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from wiki.aligning import Block, matches

MINE, MIDDLE, THEIRS = "<<<<<<< mine", "=======", ">>>>>>> theirs"
Lines = Sequence[str]


@dataclass(frozen=True)
class Merged:
    """The merged text; where both changed the same lines it holds both, between marks."""

    text: str
    conflicts: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing has to be decided."""
        return not self.conflicts


@dataclass(frozen=True)
class _Part:
    """The same stretch in the three texts."""

    base: Lines
    mine: Lines
    theirs: Lines

    @property
    def decided(self) -> Lines | None:
        """What the stretch becomes; None where both sides changed it, each in another way."""
        if self.theirs in (self.base, self.mine):
            return self.mine
        return self.theirs if self.mine == self.base else None

    def marked(self) -> list[str]:
        """Return both sides between marks; what they have in common at the ends stands outside."""
        head = _common(self.mine, self.theirs)
        mine, theirs = self.mine[head:], self.theirs[head:]
        tail = _common(mine[::-1], theirs[::-1])
        after = mine[len(mine) - tail :]
        mine, theirs = mine[: len(mine) - tail], theirs[: len(theirs) - tail]
        return [*self.mine[:head], MINE, *mine, MIDDLE, *theirs, THEIRS, *after]


def merge(base: str, mine: str, theirs: str) -> Merged:
    """Merge two texts that were made from `base`. A conflict loses no line of either side."""
    texts = [text.replace("\r\n", "\n").split("\n") for text in (base, mine, theirs)]
    out: list[str] = []
    conflicts = 0
    for part in _parts(*texts):
        decided = part.decided
        conflicts += decided is None
        out += part.marked() if decided is None else decided
    return Merged("\n".join(out), conflicts)


def _parts(base: Lines, mine: Lines, theirs: Lines) -> Iterator[_Part]:
    """Yield what lies between the stretches that all three share, and these."""
    i = j = k = 0
    for i2, j2, k2, length in _shared(matches(base, mine), matches(base, theirs)):
        yield _Part(base[i:i2], mine[j:j2], theirs[k:k2])
        i, j, k = i2 + length, j2 + length, k2 + length
        yield _Part(base[i2:i], base[i2:i], base[i2:i])
    yield _Part(base[i:], mine[j:], theirs[k:])


def _shared(mine: list[Block], theirs: list[Block]) -> Iterator[tuple[int, int, int, int]]:
    """Yield (place in base, in mine, in theirs, length) of what both sides have kept."""
    left, right = iter(mine), iter(theirs)
    one, other = next(left, None), next(right, None)
    while one and other:
        begin = max(one[0], other[0])
        end = min(one[0] + one[2], other[0] + other[2])
        if begin < end:
            yield begin, begin - one[0] + one[1], begin - other[0] + other[1], end - begin
        if one[0] + one[2] <= end:
            one = next(left, None)
        else:
            other = next(right, None)


def _common(one: Lines, other: Lines) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
