"""Reads of the wiki. Everybody with access reads every page; each read has few queries."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from goclaw_site.errors import InvalidInput, NotFound
from memory import search as engine
from memory.access import Principal, visible
from memory.chunks import batches
from memory.filters import Filters
from memory.models import Memory
from memory.search import SearchRequest
from memory.search.types import Hit
from memory.vocabulary import WIKI, WIKIJS
from wiki import slugs
from wiki.models import WikiAttachment, WikiLink, WikiPage, WikiRevision, WikiTag

_BIG = ("html", "contents")


@dataclass(frozen=True)
class Branch:
    """One line of the tree: a name, the page that stands there if any, and what lies below."""

    slug: str
    name: str
    title: str
    exists: bool
    below: tuple[Branch, ...]

    @property
    def size(self) -> int:
        """Pages here and below."""
        return int(self.exists) + sum(branch.size for branch in self.below)


@dataclass(frozen=True)
class Found:
    """One hit of a search over pages. `score` is 0 to 1, higher is better."""

    slug: str
    title: str
    heading: str
    snippet: str
    score: float
    revision: int
    scope: str

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {**self.__dict__, "score": round(self.score, 4)}


@dataclass(frozen=True)
class SearchAnswer:
    """Hits over pages, and how the search went (see `memory.search`)."""

    hits: tuple[Found, ...]
    mode: str
    pending: int
    took_ms: float
    degraded: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        answer = {
            "results": [hit.as_dict() for hit in self.hits],
            "mode": self.mode,
            "pending": self.pending,
            "took_ms": round(self.took_ms, 1),
        }
        return answer | ({"degraded": self.degraded} if self.degraded else {})


def page(principal: Principal, slug: str) -> WikiPage:
    """Return the head of a slug: a live page, or the place where one was or went.

    Raises NotFound. Whoever shows it looks at `deleted` and `moved_to`.
    """
    name = _name(slug)
    found = WikiPage.objects.filter(slug_key=slugs.key(name), revision__gt=0).first()
    if found is None:
        raise NotFound(f"There is no page '{name}'.", field="slug")
    return found


def live_page(principal: Principal, slug: str) -> WikiPage:
    """Return a page that has a text, following a redirect. Raise NotFound."""
    found = page(principal, slug)
    if found.moved_to:
        found = page(principal, found.moved_to)
    if not found.live:
        raise NotFound(f"'{found.slug}' was deleted; its history is kept.", field="slug")
    return found


def revision(principal: Principal, head: WikiPage, number: int | None = None) -> WikiRevision:
    """Return a revision of a page, the newest where no number is given. Raise NotFound."""
    wanted = head.revision if number is None else number
    found = WikiRevision.objects.filter(page=head, revision=wanted).first()
    if found is None:
        raise NotFound(f"'{head.slug}' has no revision {wanted}.", field="revision")
    return found


def earlier(
    principal: Principal, head: WikiPage, newer: WikiRevision, number: int | None = None
) -> WikiRevision | None:
    """Return what a revision is compared with: the one before it, or the named one; 0 is nothing.

    Raises NotFound.
    """
    if number:
        return revision(principal, head, number)
    before = WikiRevision.objects.filter(page=head, revision__lt=newer.revision)
    return None if number == 0 else before.order_by("-revision").first()


def history(principal: Principal, head: WikiPage) -> QuerySet[WikiRevision]:
    """Return the revisions of a page without their texts, the newest first."""
    return WikiRevision.objects.filter(page=head).defer("body").order_by("-revision")


def pages(
    principal: Principal, *, prefix: str = "", tags: Sequence[str] = (), waiting: bool = False
) -> QuerySet[WikiPage]:
    """Return live pages without their HTML, the newest change first; they have every tag."""
    found = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0).defer(*_BIG)
    if prefix:
        found = found.filter(slug__startswith=slugs.fold(prefix))
    for tag in tags:
        found = found.filter(Exists(WikiTag.objects.filter(page=OuterRef("pk"), tag=tag)))
    if waiting:
        found = found.filter(waits=True)
    return found.prefetch_related("tags").order_by("-updated_at", "-id")


def tree(principal: Principal, below: str = "") -> tuple[Branch, ...]:
    """Return all live pages as a tree, by name; `below` cuts it to what lies under a slug."""
    rows = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0)
    if below:
        rows = rows.filter(slug__startswith=f"{_name(below)}/")
    titles = dict(rows.values_list("slug", "title"))
    top = _name(below) if below else ""
    return _branches(top, _children(titles, top), titles)


def _children(slugs_there: Iterable[str], top: str) -> dict[str, list[str]]:
    """Return what stands right below each place, places without a page among them."""
    found: dict[str, list[str]] = {}
    seen = {top}
    for slug in slugs_there:
        place = slug
        while place not in seen:
            seen.add(place)
            parent = place.rpartition("/")[0]
            found.setdefault(parent, []).append(place)
            place = parent
    return found


def _branches(
    parent: str, children: dict[str, list[str]], titles: dict[str, str]
) -> tuple[Branch, ...]:
    return tuple(
        Branch(
            slug=slug,
            name=slug.rpartition("/")[2],
            title=titles.get(slug, ""),
            exists=slug in titles,
            below=_branches(slug, children, titles),
        )
        for slug in sorted(children.get(parent, ()))
    )


def recent(principal: Principal) -> QuerySet[WikiRevision]:
    """Return every save of every page without its text, the newest first."""
    return WikiRevision.objects.select_related("page").defer(
        "body", *(f"page__{name}" for name in _BIG)
    )


def review_queue(principal: Principal) -> QuerySet[WikiPage]:
    """Return pages (deleted ones too) with agents' edits that wait, the oldest change first."""
    waiting = WikiPage.objects.filter(waits=True, moved_to="").defer(*_BIG)
    return waiting.order_by("updated_at", "id")


def waiting_count(principal: Principal) -> int:
    """Return how many pages wait for a person's eye."""
    return WikiPage.objects.filter(waits=True, moved_to="").count()


def backlinks(principal: Principal, slug: str) -> QuerySet[WikiPage]:
    """Return live pages that link to a slug, by slug; what a link means, not where it leads."""
    links = WikiLink.objects.filter(page=OuterRef("pk"), target_key=slugs.key(_name(slug)))
    return pages(principal).filter(Exists(links)).order_by("slug")


def backlink_count(principal: Principal, slug: str) -> int:
    """Return how many live pages link to a slug; counted from the links, not from the pages."""
    links = WikiLink.objects.filter(target_key=slugs.key(_name(slug)))
    return links.filter(page__deleted=False, page__moved_to="").count()


def missing_links(principal: Principal, head: WikiPage) -> frozenset[str]:
    """Return the slugs that a page links to and that lead nowhere."""
    there = WikiPage.objects.filter(slug_key=OuterRef("target_key"), deleted=False, revision__gt=0)
    links = WikiLink.objects.filter(~Exists(there), page=head)
    return frozenset(links.values_list("target", flat=True))


def missing(principal: Principal, wanted: Iterable[str]) -> frozenset[str]:
    """Return those of the slugs that lead nowhere: for texts that are not saved yet."""
    by_key = {slugs.key(slug): slug for slug in wanted}
    for ids in batches(sorted(by_key)):
        held = WikiPage.objects.filter(slug_key__in=ids, deleted=False, revision__gt=0)
        for found in held.values_list("slug_key", flat=True):
            by_key.pop(found)
    return frozenset(by_key.values())


def tags(principal: Principal) -> list[tuple[str, int]]:
    """Return the tags of live pages with how many pages have each."""
    rows = WikiTag.objects.filter(page__deleted=False, page__moved_to="")
    counted = rows.values("tag").annotate(pages=Count("pk")).order_by("tag")
    return [(row["tag"], row["pages"]) for row in counted]


def attachments(principal: Principal, slug: str = "") -> QuerySet[WikiAttachment]:
    """Return files, of one page where a slug is given, the newest first."""
    found = WikiAttachment.objects.order_by("-created_at", "-id")
    return found.filter(slug_key=slugs.key(_name(slug))) if slug else found


def attachment(principal: Principal, attachment_id: uuid.UUID) -> WikiAttachment:
    """Return a file's row. Raise NotFound."""
    found = WikiAttachment.objects.filter(pk=attachment_id).first()
    if found is None:
        raise NotFound("No such file.")
    return found


def search(
    principal: Principal, query: str, *, limit: int | None = None, tags: tuple[str, ...] = ()
) -> SearchAnswer:
    """Search pages and copies through the one search. Any query finds something or nothing."""
    filters = Filters(scopes=(WIKI, WIKIJS), tags=tags)
    results = engine.search(principal, SearchRequest(query, filters, max_results=limit))
    told = _metadata(principal, [hit.id for hit in results.hits])
    hits: dict[str, Found] = {}
    for hit in results.hits:
        known = told.get(hit.id, {})
        # A long page is several records; the best of them speaks for it.
        if known.get("slug"):
            hits.setdefault(known["slug"], _hit(hit, known))
    found = tuple(hits.values())
    return SearchAnswer(found, results.mode, results.pending, results.took_ms, results.degraded)


def _hit(hit: Hit, known: dict[str, Any]) -> Found:
    return Found(
        slug=known["slug"],
        title=known.get("title", ""),
        heading=hit.heading,
        snippet=hit.snippet,
        score=hit.score,
        revision=known.get("revision", 0),
        scope=hit.scope,
    )


def _metadata(principal: Principal, ids: list[uuid.UUID]) -> dict[uuid.UUID, dict[str, Any]]:
    rows = Memory.objects.filter(visible(principal), pk__in=ids)
    return dict(rows.values_list("pk", "metadata"))


def _name(slug: str) -> str:
    """Return the slug that is meant; one that no page can have names nothing."""
    try:
        return slugs.read(slug)
    except InvalidInput as error:
        raise NotFound(f"There is no such page: {error.message}", field="slug") from None
