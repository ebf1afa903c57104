"""A budget of work instead of a clock: the same text is cut off on every machine, or on none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markdown import Markdown
from markdown.preprocessors import Preprocessor

#: Units of work for one text; a unit is about 25 nanoseconds of a fast core. A dense manual of
#: 1,000,000 characters (a heading, code and a table in every 190) needs most of it.
BUDGET = 250_000_000
#: A block, or a cell of a table: each goes through every pattern, found or not.
_BLOCK = 2_500
#: A processor that looks at a block and leaves it to the next one.
_ASKED = 100
#: A match, and what it costs to build its element.
_MATCH = 400
#: Blocks that are parsed together.
SLICE = 400
#: Looking at one sign, in units; the library does so in Python, and often to the text's end.
_LOOKED = 8
#: Marks of emphasis in one stretch of text; more of them nest deeper than anybody reads.
_MARKS = 2_000
#: Moving a string costs much less than looking at its characters.
_MOVED = 20
#: Characters that may be searched for the ends of tags that have none.
SOUGHT = 400_000_000
_BEGUN = re.compile(r"<[/a-zA-Z]")
#: Whole tags; longer attributes count as loose ends, which only matters where there are many.
_TAG = re.compile(
    r"""<(?:[/a-zA-Z][^<>"']*+(?:(?:"[^"]{0,1500}+"|'[^']{0,1500}+')[^<>"']*+)*+|!--[^<>]*+--)>"""
)
#: Patterns that walk on from their match, sign by sign, in search of an end.
_WALKING = frozenset(
    (
        "link",
        "image_link",
        "reference",
        "image_reference",
        "short_reference",
        "short_image_ref",
        "backtick",
    )
)


class Exhausted(Exception):
    """The text needs more work than any page deserves."""


class Fuel:
    """Counts work down."""

    def __init__(self, units: int = BUDGET) -> None:
        self.left = units

    def burn(self, units: int) -> None:
        """Take units away. Raise Exhausted when none are left."""
        self.left -= units
        if self.left < 0:
            raise Exhausted


class _CountLoose(Preprocessor):
    """The parser of raw HTML looks for the end of each tag to the end of the text."""

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        begun = text.count("<!") + text.count("<?") + len(_BEGUN.findall(text))
        loose = begun - len(_TAG.findall(text))
        if loose * len(text) > SOUGHT:
            raise Exhausted
        return lines


def meter(md: Markdown, fuel: Fuel) -> None:
    """Make every step of this converter burn what it costs."""
    for name in _names(md.inlinePatterns):
        pattern = md.inlinePatterns[name]
        pattern.handleMatch = _metered_match(  # type: ignore[method-assign]
            pattern.handleMatch, fuel, walks=name in _WALKING, marks=name == "em_strong"
        )
    # Code in fences is gone by now, raw HTML is not yet looked for.
    md.preprocessors.register(_CountLoose(md), "loose", 22)
    parser = md.parser
    for name in _names(parser.blockprocessors):
        processor = parser.blockprocessors[name]
        processor.run = _metered_run(  # type: ignore[method-assign]
            processor.run, fuel, cells=name == "table"
        )
    parser.parseChunk = lambda parent, text: _in_slices(  # type: ignore[method-assign]
        parser, parent, text.split("\n\n")
    )


def _names(registry: Any) -> list[str]:
    return [item.name for item in registry._priority]  # noqa: SLF001  it has no public listing


def _metered_match(
    handle: Callable[..., Any], fuel: Fuel, *, walks: bool, marks: bool
) -> Callable[..., Any]:
    def metered(match: Any, data: str) -> Any:
        fuel.burn(_MATCH + len(data) // _MOVED)
        if marks and (found := data.count("*") + data.count("_")) > _MARKS:
            fuel.burn(found * found)
        answer = handle(match, data)
        if walks and (answer[0] is None or getattr(answer[0], "tag", "") == "code"):
            fuel.burn(_LOOKED * (len(data) - match.start()))
        return answer

    return metered


def _metered_run(run: Callable[..., Any], fuel: Fuel, *, cells: bool) -> Callable[..., Any]:
    def metered(parent: Any, blocks: list[str]) -> Any:
        block = blocks[0]
        fuel.burn(_ASKED + 2 * len(block))
        if cells:
            fuel.burn(_BLOCK * block.count("|"))
        took = run(parent, blocks)
        if took is not False:
            fuel.burn(_BLOCK)
        return took

    return metered


def _in_slices(parser: Any, parent: Any, blocks: list[str]) -> None:
    """Parse blocks some hundred at a time: the parser takes each from the front of the list.

    A slice ends before a block that is not indented, so that nothing that belongs together is cut.
    """
    start = 0
    for end in range(len(blocks)):
        if end - start >= SLICE and not blocks[end].startswith((" ", "\t", "\n")):
            parser.parseBlocks(parent, blocks[start:end])
            start = end
    parser.parseBlocks(parent, blocks[start:])
