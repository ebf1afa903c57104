"""The lines between `---` at the start of a Markdown file. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import yaml

from goclaw_site.errors import InvalidInput

MAX_CHARACTERS = 64_000
_BLOCK = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.M)


@dataclass(frozen=True)
class Parsed:
    """A file's own words, and what stands before them."""

    body: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title, or nothing."""
        return _line(self.values.get("title"))

    @property
    def slug(self) -> str:
        """The slug, or nothing."""
        return _line(self.values.get("slug"))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags: a list, or words with commas between."""
        given = self.values.get("tags", self.values.get("keywords"))
        if isinstance(given, str):
            given = given.split(",")
        if not isinstance(given, list):
            return ()
        return tuple(line for tag in given if (line := _line(tag)))


def parse(text: str) -> Parsed:
    """Split a file with Unix line breaks. Raise InvalidInput for front matter that is no YAML."""
    match = _BLOCK.match(text)
    if match is None:
        return Parsed(text.removeprefix("\ufeff"))
    if len(match.group(1)) > MAX_CHARACTERS:
        raise InvalidInput(f"the front matter has more than {MAX_CHARACTERS:,} characters.")
    try:
        values = yaml.safe_load(match.group(1))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the front matter is not YAML: {_reason(error)}") from None
    if values is None:
        values = {}
    if not isinstance(values, dict):
        # A line across the page, not front matter.
        return Parsed(text.removeprefix("\ufeff"))
    return Parsed(text[match.end() :], values)


def dump(values: dict[str, Any], body: str) -> str:
    """Return a file that `parse` splits into the same again."""
    head = _dumped(values, readable=True)
    if yaml.safe_load(head) != values:
        # Some signs of Unicode break lines in YAML; escaped they do not.
        head = _dumped(values, readable=False)
    return f"---\n{head}---\n{body}"


def _dumped(values: dict[str, Any], *, readable: bool) -> str:
    return yaml.safe_dump(values, allow_unicode=readable, sort_keys=False, width=10_000)


def _line(value: Any) -> str:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return " ".join(str(value).split())


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "it cannot be read"
    return f"{problem} (line {mark.line + 2})." if mark is not None else f"{problem}."
