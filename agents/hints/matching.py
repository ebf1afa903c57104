"""From a failing tool and its message to the advice."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache

from agents.hints.patterns import GENERAL, LOGIN_PAGES, SPECIAL, UNFIXABLE
from agents.hints.redaction import redacted
from agents.hints.types import FAMILIES, MAX_ERROR, Advice, Pattern
from goclaw_site.errors import TooLarge

logger = logging.getLogger(__name__)

#: What of a message is looked at: servers say what is wrong at the beginning, traces at the end.
_HEAD, _TAIL = 4_000, 1_000
_NEAREST, _LEAST_LIKENESS = 3, 0.6
_LISTED, _QUOTED = 30, 80

UNKNOWN = Advice(False, "", "unknown")
Schema = Mapping[str, Sequence[str]]


def hint(tool: str, error: str, schema: Schema | None = None) -> Advice:
    """Return what to do about `error` of `tool`; `schema` maps tables to their columns.

    What the agent cannot mend is logged without its secrets. Raises TooLarge past MAX_ERROR.
    """
    if len(error) > MAX_ERROR:
        raise TooLarge(
            f"error has {len(error):,} characters; the limit is {MAX_ERROR:,}.", field="error"
        )
    family = family_of(tool)
    text = error if len(error) <= _HEAD + _TAIL else f"{error[:_HEAD]}\n{error[-_TAIL:]}"
    for pattern in _patterns(family):
        found = _search(pattern.regex, text)
        if found and (not pattern.also or _search(pattern.also, text)):
            return _advice(pattern, found, tool, text, schema or {})
    return UNKNOWN


def family_of(tool: str) -> str:
    """Return the family of a tool; `mcp__files__read` and `gitlab_search` belong to theirs."""
    name = tool.strip().lower()
    if name in FAMILIES:
        return name
    words = re.split(r"[_.:/-]", name[:100])
    if words[0] == "db":
        return "db_query"
    starts = {family.split("_")[0]: family for family in reversed(FAMILIES)}
    return starts.get(words[0], "")


def _patterns(family: str) -> Iterator[Pattern]:
    """A login page holds many a fixable word; a column may be named after a trouble, as timeout.

    So login pages stand first, then messages that one product alone writes, then what nobody can
    mend, and last what any server may say.
    """
    groups = (LOGIN_PAGES, SPECIAL, UNFIXABLE, GENERAL)
    yield from (pattern for group in groups for pattern in group if _concerns(pattern, family))


def _concerns(pattern: Pattern, family: str) -> bool:
    """What nobody can mend is known of every tool, so that its failures are logged alike."""
    return family in pattern.families or not pattern.fixable


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.IGNORECASE | re.DOTALL)


def _search(regex: str, text: str) -> re.Match[str] | None:
    return _compiled(regex).search(text)


def _advice(pattern: Pattern, found: re.Match[str], tool: str, text: str, schema: Schema) -> Advice:
    if not pattern.fixable:
        logger.info("%s failed (%s): %s", tool[:60], pattern.category, redacted(text))
        return Advice(False, "", pattern.category, pattern.name)
    words = {name: _quoted(value) for name, value in found.groupdict().items()}
    near = _near(pattern, words, schema)
    sentence = " ".join(pattern.hint.format_map(words | {"near": near}).split())
    # Where the message gave nothing for a group, its colon or space would stand before a stop.
    return Advice(True, re.sub(r"[ :]{1,3}(?=[.;])", "", sentence), pattern.category, pattern.name)


def _quoted(value: str | None) -> str:
    """Return a part of the message as a short piece of one line, without its quotes."""
    line = " ".join((value or "").split()).strip("'\"`[]\\ ")
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…"


def _near(pattern: Pattern, words: Mapping[str, str], schema: Schema) -> str:
    """Return a sentence with the names that come nearest: the server's own, else the schema's."""
    if words.get("meant"):
        return f"Did you mean {words['meant']}?"
    known = _names(pattern.names, words, schema)
    if not known:
        return ""
    name = words.get("name", "").rpartition(".")[2]
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), list(by_folded), _NEAREST, _LEAST_LIKENESS)
    if close:
        return f"Did you mean {' or '.join(by_folded[match] for match in close)}?"
    return f"There are: {', '.join(known[:_LISTED])}."


def _names(kind: str, words: Mapping[str, str], schema: Schema) -> list[str]:
    """Return the names of the schema that are worth a look, of one table where it is named."""
    if kind == "table":
        return list(schema)
    if kind != "column":
        return []
    table = words.get("name", "").rpartition(".")[0].rpartition(".")[2]
    columns = schema.get(table)
    if columns is None:
        columns = [column for table_columns in schema.values() for column in table_columns]
    return list(dict.fromkeys(columns))
