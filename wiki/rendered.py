"""What is made from a body when it is saved: HTML, table of contents, links to other pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from goclaw_site.errors import InvalidInput
from memory.access import Principal
from wiki import slugs
from wiki.models import WikiPage, WikiRevision

_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,1000})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")


@dataclass(frozen=True)
class Prepared:
    """What stands beside a text, and the version of the renderer that made it."""

    html: str
    contents: Sequence[Any]
    links: tuple[str, ...]
    version: str


def prepare(body: str) -> Prepared:
    """Return everything made from a body; outside a transaction where it is large."""
    return Prepared("", (), _links(body), "")


def shown(
    principal: Principal, page: WikiPage, revision: WikiRevision
) -> tuple[str, Sequence[Any]]:
    """Return the HTML of a text for this moment, and its table of contents."""
    return f"<pre>{escape(revision.body)}</pre>", []


def _links(body: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for match in _LINK.finditer(body):
        try:
            found[slugs.from_link(match.group(1))] = None
        except InvalidInput:
            continue
    return tuple(found)
