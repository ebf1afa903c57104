"""What stands around the text of a page: its path, its tabs, its neighbours, who links here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from memory.access import Principal, principal_of
from wiki import queries, slugs
from wiki.access import may_edit, may_review
from wiki.models import WikiPage

#: Pages of a section beside a page; the others are one click away.
NEIGHBOURS = 60
_TITLE = re.compile(r'\A\s*<h1 id="([^"]*)">.*?</h1>\s*', re.DOTALL)


@dataclass(frozen=True)
class Crumb:
    """One step of the path to a page; without an address where no page may stand."""

    name: str
    url: str


@dataclass(frozen=True)
class Tab:
    """One view of a page."""

    name: str
    label: str
    url: str
    count: int | None = None
    here: bool = False


@dataclass(frozen=True)
class Article:
    """A text as it is read: the heading that repeats the title is the title."""

    html: SafeString
    contents: Sequence[Any]
    anchor: str = ""


def page_url(slug: str, query: str = "") -> str:
    """Return the address of a page."""
    return reverse("wiki-page", args=[slug]) + (f"?{query}" if query else "")


def frame(request: HttpRequest, page: WikiPage, view: str) -> dict[str, Any]:
    """Return what every view of a page shows beside what it is about."""
    principal = principal_of(request)
    copy = page.slug.startswith(f"{slugs.COPIES}/")
    editor = may_edit(principal) and not copy
    return {
        "page": page,
        "view": view,
        "crumbs": crumbs(page.slug),
        "tabs": _tabs(principal, page, view, editor=editor),
        "may_edit": editor,
        "may_review": may_review(principal) and not copy,
        "copy": copy,
    }


def crumbs(slug: str) -> list[Crumb]:
    """Return the path above a page."""
    return [Crumb(above.rpartition("/")[2], page_url(above)) for above in slugs.ancestors(slug)]


def _tabs(principal: Principal, page: WikiPage, view: str, *, editor: bool) -> list[Tab]:
    here = {"read": "read", "source": "read", "diff": "history"}.get(view, view)
    files = queries.attachments(principal, page.slug).count()
    links = queries.backlink_count(principal, page.slug)
    tabs = [Tab("read", "Read", page_url(page.slug))]
    if editor:
        tabs.append(Tab("edit", "Edit", page_url(page.slug, "view=edit")))
    tabs += [
        Tab("history", "History", page_url(page.slug, "view=history"), page.revision),
        Tab("files", "Files", page_url(page.slug, "view=files"), files),
        Tab("links", "Links here", page_url(page.slug, "view=links"), links),
    ]
    return [Tab(t.name, t.label, t.url, t.count, here=t.name == here) for t in tabs]


def neighbours(page: WikiPage) -> tuple[str, list[tuple[str, str, int]], bool]:
    """Return the section's name, its pages as (slug, title, depth), and whether there are more."""
    section = page.slug.partition("/")[0]
    rows = (
        WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0)
        .filter(slug__startswith=section)
        .order_by("slug")
        .values_list("slug", "title")[: NEIGHBOURS * 4]
    )
    inside = [row for row in rows if row[0] == section or row[0].startswith(f"{section}/")]
    shown = [(slug, title, min(slug.count("/"), 4)) for slug, title in inside[:NEIGHBOURS]]
    return section, shown, len(inside) > NEIGHBOURS


def article(html: str, contents: Sequence[Any], title: str) -> Article:
    """Return safe HTML to read; it comes from the sanitizer alone."""
    anchor = ""
    first = contents[0] if contents else None
    found = _TITLE.match(html)
    if first and found and first["level"] == 1 and first["text"].strip() == title.strip():
        html, contents, anchor = html[found.end() :], contents[1:], found.group(1)
    return Article(mark_safe(html), contents, anchor)  # noqa: S308  cleaned when it was rendered
