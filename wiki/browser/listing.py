"""Lists of pages: where the wiki begins, what changed, what is found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from memory.access import Principal, administers, principal_of
from memory.pages.base import page, show
from wiki import queries, slugs
from wiki.access import may_edit, may_review
from wiki.browser.framing import crumbs, page_url
from wiki.browser.reading import whole
from wiki.edits import check_tags
from wiki.models import WikiPage

RECENT = 40
RESULTS = 30
#: Lines of one level of the tree.
LEVEL = 500
#: Up to so many pages the tree stands open.
UNFOLDED = 120
_TOP_TAGS = 24
_MARKUP = re.compile(r"(?<![\w&])#{1,6} |\[\[|\]\]|\*\*|`")


@dataclass(frozen=True)
class Place:
    """One line of the tree; `inside` counts the pages below it, `below` holds them if they show."""

    slug: str
    name: str
    title: str
    exists: bool
    inside: int
    below: tuple[Place, ...] = ()

    @property
    def apart(self) -> bool:
        """Whether the title does not tell the name."""
        return slugs.from_title(self.title) != self.name


def level(principal: Principal, below: str) -> list[Place]:
    """Return the places directly below a slug, by name; in a small wiki with all that they hold."""
    rows = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0)
    if below:
        rows = rows.filter(slug__startswith=f"{below}/")
    titles = dict(rows.values_list("slug", "title"))
    return _places(titles, f"{below}/" if below else "", unfold=len(titles) <= UNFOLDED)


def _places(titles: dict[str, str], start: str, *, unfold: bool) -> list[Place]:
    inside: dict[str, dict[str, str]] = {}
    for slug, title in titles.items():
        name, _, rest = slug[len(start) :].partition("/")
        inside.setdefault(name, {})
        if rest:
            inside[name][slug] = title
    return [
        Place(
            slug=f"{start}{name}",
            name=name,
            title=titles.get(f"{start}{name}", ""),
            exists=f"{start}{name}" in titles,
            inside=len(held),
            below=tuple(_places(held, f"{start}{name}/", unfold=True)) if unfold else (),
        )
        for name, held in sorted(inside.items())[:LEVEL]
    ]


@page
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The tree, what changed lately, what waits; without a page yet, how to begin."""
    principal = principal_of(request)
    below = slugs.read(request.GET["below"]) if request.GET.get("below") else ""
    places = level(principal, below)
    context: dict[str, Any] = {"places": places, "below": below, "may_edit": may_edit(principal)}
    if request.GET.get("part") == "level":
        return show(request, "wiki/parts/level.html", "wiki/parts/level.html", context)
    context |= {
        "crumbs": [*crumbs(below)] if below else [],
        "may_distill": administers(principal),
        "total": sum(place.inside + place.exists for place in places),
        "recent": list(queries.recent(principal)[:8]),
        "waiting": queries.waiting_count(principal) if may_review(principal) else 0,
        "tags": sorted(queries.tags(principal), key=lambda row: -row[1])[:_TOP_TAGS],
    }
    return show(request, "wiki/home.html", "wiki/home.html", context)


@page
@require_safe
def recent(request: HttpRequest) -> HttpResponse:
    """Every save, the newest first."""
    principal = principal_of(request)
    rows = queries.recent(principal)
    before = whole(request, "before")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: RECENT + 1])
    following = found[RECENT - 1].pk if len(found) > RECENT else None
    context = {"rows": found[:RECENT], "following": following, "first": before is None}
    return show(request, "wiki/recent.html", "wiki/recent.html", context)


def _plain(snippet: str) -> str:
    """Take the signs of Markdown out of an escaped snippet; taking away cannot make a tag."""
    return _MARKUP.sub("", snippet)


@page
@require_safe
def find(request: HttpRequest) -> HttpResponse:
    """Pages that answer a query, or that have a tag."""
    principal = principal_of(request)
    query, tag = request.GET.get("q", "").strip(), request.GET.get("tag", "").strip()
    context: dict[str, Any] = {"query": query, "tag": tag, "may_edit": may_edit(principal)}
    if query:
        tags = check_tags([tag]) if tag else ()
        answer = queries.search(principal, query, limit=RESULTS, tags=tags)
        # The search escapes everything and adds its marks alone.
        hits = [(hit, mark_safe(_plain(hit.snippet)), page_url(hit.slug)) for hit in answer.hits]  # noqa: S308
        context |= {"answer": answer, "hits": hits}
    elif tag:
        context["pages"] = list(queries.pages(principal, tags=check_tags([tag]))[:200])
    return show(request, "wiki/search.html", "wiki/parts/found.html", context)
