"""What somebody asks to be saved, checked before anything is touched; conflicts keep all of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from goclaw_site.errors import Conflict, InvalidInput, TooLarge
from memory.drafts import MAX_TAG, MAX_TAGS, check_line, check_text
from wiki.models import MAX_COMMENT, MAX_TITLE

MAX_BODY = 1_000_000
MAX_REVISION = 2_000_000_000
_HEADING = re.compile(r"^#{1,2}[ \t]+(\S.*?)[ \t]*#*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Text:
    """What one revision of a page says."""

    title: str
    body: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """A save: a text, and the revision it was made from (None: from nothing, a new page)."""

    title: str
    body: str
    tags: tuple[str, ...] = ()
    comment: str = ""
    base_revision: int | None = None

    @property
    def text(self) -> Text:
        """What the page is to say."""
        return Text(self.title, self.body, self.tags)


class StaleBase(Conflict):
    """Somebody saved in between. `extra` has all three texts, and a merge where it is clean."""


def check_edit(slug: str, edit: Edit) -> Edit:
    """Return the edit in its stored form. Raise InvalidInput or TooLarge with field and limit."""
    body = check_body(edit.body)
    title = check_line("title", edit.title, MAX_TITLE) or default_title(slug, body)
    return Edit(
        title=title,
        body=body,
        tags=check_tags(edit.tags),
        comment=check_line("comment", edit.comment, MAX_COMMENT),
        base_revision=check_base(edit.base_revision),
    )


def check_base(base: int | None) -> int | None:
    """Return the number of the revision that was edited; 0 means none, as null does."""
    if base is None:
        return None
    if isinstance(base, bool) or not isinstance(base, int) or not 0 <= base <= MAX_REVISION:
        raise InvalidInput("base_revision must be a whole number or null.", field="base_revision")
    return base or None


def check_body(body: str) -> str:
    """Return the body with the line breaks of Unix; browsers send others."""
    text = check_text("body", body).replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_BODY:
        raise TooLarge(
            f"body has {len(text):,} characters; the limit is {MAX_BODY:,}. "
            "Split the page, or attach the text as a file.",
            field="body",
        )
    return text


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags in NFC, trimmed, each once, in order."""
    given = list(tags)
    if len(given) > MAX_TAGS:
        raise InvalidInput(f"{len(given)} tags; the limit is {MAX_TAGS}.", field="tags")
    lines = [check_line("tags", tag, MAX_TAG) for tag in given]
    if not all(lines):
        raise InvalidInput("tags holds an empty tag.", field="tags")
    return tuple(sorted(dict.fromkeys(lines)))


def default_title(slug: str, body: str) -> str:
    """Return the first heading, or the last part of the slug in words."""
    found = _HEADING.search(body[:5000])
    title = found.group(1) if found else slug.rpartition("/")[2].replace("-", " ").strip()
    return title[:MAX_TITLE].strip() or slug[:MAX_TITLE]
