"""What changed between two texts, by words. Pure, and bounded: huge texts are not compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

#: Words between the common ends; comparing more takes too long for a page.
COMPARED = 600
#: Unchanged words kept on each side of a change.
CONTEXT = 12
#: Spaces, a sign of a script without spaces, a word with its inner `. : / -`, or any other sign.
_WORD = re.compile(
    r"\s+|[\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af]|"
    r"[^\W\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af]+"
    r"(?:[.:/'’-]+[^\W\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af]+)*|."
)


@dataclass(frozen=True)
class Part:
    """A run of text; `kind` is same, del, ins or gap."""

    kind: str
    text: str = ""


def compare(before: str, after: str) -> list[Part] | None:
    """Return the parts that lead from one text to the other; None where they differ too widely."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(left) > COMPARED or len(right) > COMPARED:
        return None
    parts = [Part("same", "".join(old[:head]))]
    parts += _changes(left, right)
    parts.append(Part("same", "".join(old[len(old) - tail :]) if tail else ""))
    return _shortened([part for part in parts if part.text])


def _common(old: list[str], new: list[str]) -> int:
    length = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        length += 1
    return length


def _changes(left: list[str], right: list[str]) -> list[Part]:
    parts = []
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(Part("same", "".join(left[i1:i2])))
            continue
        parts.append(Part("del", "".join(left[i1:i2])))
        parts.append(Part("ins", "".join(right[j1:j2])))
    return parts


def _shortened(parts: list[Part]) -> list[Part]:
    """Leave out unchanged text that is far from every change."""
    short: list[Part] = []
    for index, part in enumerate(parts):
        if part.kind != "same":
            short.append(part)
            continue
        short += _around(part, first=index == 0, last=index == len(parts) - 1)
    return short


def _around(part: Part, *, first: bool, last: bool) -> list[Part]:
    words = _WORD.findall(part.text)
    keep = CONTEXT * 2
    if len(words) <= keep * 2 or (first and last):
        return [part]
    begin = [] if first else [Part("same", "".join(words[:keep]))]
    end = [] if last else [Part("same", "".join(words[-keep:]))]
    return [*begin, Part("gap"), *end]
