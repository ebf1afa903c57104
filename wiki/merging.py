"""Three-way merge of two people's edits of one text: pure, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merge3 import Merge3

from wiki.aligning import matches

MINE, MIDDLE, THEIRS = "<<<<<<< mine", "=======", ">>>>>>> theirs"


@dataclass(frozen=True)
class Merged:
    """The merged text; where both changed the same lines it holds both, between marks."""

    text: str
    conflicts: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing has to be decided."""
        return not self.conflicts


class _Matcher:
    """Compares lines in bounded time; the signature is that of difflib's SequenceMatcher."""

    def __init__(
        self,
        isjunk: Any = None,
        a: Sequence[str] = (),
        b: Sequence[str] = (),
        autojunk: bool = True,
    ) -> None:
        self.a, self.b = a, b

    def get_matching_blocks(self) -> list[tuple[int, int, int]]:
        return [*matches(self.a, self.b), (len(self.a), len(self.b), 0)]


def merge(base: str, mine: str, theirs: str) -> Merged:
    """Merge two texts that were made from `base`. A conflict loses no line of either side."""
    texts = [text.replace("\r\n", "\n") for text in (base, mine, theirs)]
    base, mine, theirs = texts
    if mine in (base, theirs):
        return Merged(theirs)
    if theirs == base:
        return Merged(mine)
    merger = Merge3(
        base.split("\n"), mine.split("\n"), theirs.split("\n"), sequence_matcher=_Matcher
    )
    out: list[str] = []
    conflicts = 0
    for region in merger.reprocess_merge_regions(merger.merge_regions()):
        if region[0] == "conflict":
            conflicts += 1
        out += _lines(merger, region)
    return Merged("\n".join(out), conflicts)


def _lines(merger: Merge3[str], region: Any) -> list[str]:
    kind = region[0]
    if kind == "conflict":
        _, _, _, i1, i2, j1, j2 = region
        return [MINE, *merger.a[i1:i2], MIDDLE, *merger.b[j1:j2], THEIRS]
    source = {"unchanged": merger.base, "a": merger.a, "same": merger.a, "b": merger.b}[kind]
    return list(source[region[1] : region[2]])
