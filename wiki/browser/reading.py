"""A page as it is read, and the views of it that change nothing."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from goclaw_site.errors import InvalidInput, NotFound
from memory.access import principal_of
from memory.pages.base import page, show
from wiki import queries, rendered, slugs
from wiki.access import may_edit, may_review
from wiki.browser import comparing, editing
from wiki.browser.framing import article, crumbs, frame, neighbours, page_url
from wiki.models import WikiPage

#: Revisions on one page of the history.
REVISIONS = 50


@page
@require_http_methods(("GET", "HEAD", "POST"))
def wiki_page(request: HttpRequest, slug: str) -> HttpResponse:
    """One page: read, edit, history, diff, files, links, source; a post saves it."""
    name = slugs.read(slug)
    if request.method == "POST":
        return editing.save(request, name)
    if name != slug:
        query = request.GET.urlencode()
        return HttpResponseRedirect(page_url(name, query))
    view = request.GET.get("view", "read")
    if view == "edit":
        return editing.edit(request, name)
    if view not in _VIEWS:
        raise InvalidInput(f"A page has no view '{view[:40]}'.", field="view")
    try:
        head = queries.page(principal_of(request), name)
    except NotFound:
        return _missing(request, name)
    return _VIEWS[view](request, head)


def _read(request: HttpRequest, head: WikiPage) -> HttpResponse:
    """Show the newest text, or the one of `revision`; follow a redirect; say what was deleted."""
    principal = principal_of(request)
    if head.moved_to and "revision" not in request.GET:
        messages.info(request, f"“{head.slug}” is called “{head.moved_to}” now.")
        return HttpResponseRedirect(page_url(head.moved_to))
    number = whole(request, "revision")
    if head.deleted and number is None:
        return _deleted(request, head)
    old = None
    if number is None or number == head.revision:
        html, contents = rendered.stored(head)
        html = rendered.dressed(html, queries.missing_links(principal, head))
    else:
        old = queries.revision(principal, head, number)
        html, contents = rendered.shown(principal, head, old)
    section, around, more = neighbours(head)
    context = frame(request, head, "read") | {
        "article": article(html, contents, old.title if old else head.title),
        "old": old,
        "tags": [row.tag for row in head.tags.all()],
        "section": section,
        "neighbours": around,
        "more": more,
    }
    return show(request, "wiki/page.html", "wiki/page.html", context)


def _history(request: HttpRequest, head: WikiPage) -> HttpResponse:
    principal = principal_of(request)
    rows = queries.history(principal, head)
    before = whole(request, "before")
    if before is not None:
        rows = rows.filter(revision__lt=before)
    found = list(rows[: REVISIONS + 1])
    following = found[REVISIONS - 1].revision if len(found) > REVISIONS else None
    context = frame(request, head, "history")
    context |= {"rows": found[:REVISIONS], "following": following, "first": before is None}
    return show(request, "wiki/history.html", "wiki/history.html", context)


def _diff(request: HttpRequest, head: WikiPage) -> HttpResponse:
    to = whole(request, "to") or head.revision
    since = whole(request, "from")
    since = max(to - 1, 1) if since is None else since
    old, new = sorted((since, to))
    context = frame(request, head, "diff")
    context |= comparing.revisions(request, head, old, new)
    return show(request, "wiki/diff.html", "wiki/diff.html", context)


def _links(request: HttpRequest, head: WikiPage) -> HttpResponse:
    rows = queries.backlinks(principal_of(request), head.slug)
    context = frame(request, head, "links") | {"rows": rows[:500]}
    return show(request, "wiki/links.html", "wiki/links.html", context)


def _files(request: HttpRequest, head: WikiPage) -> HttpResponse:
    rows = queries.attachments(principal_of(request), head.slug)
    context = frame(request, head, "files") | {"rows": rows[:200]}
    return show(request, "wiki/files.html", "wiki/files.html", context)


def _source(request: HttpRequest, head: WikiPage) -> HttpResponse:
    old = queries.revision(principal_of(request), head, whole(request, "revision"))
    context = frame(request, head, "source") | {"old": old}
    return show(request, "wiki/source.html", "wiki/source.html", context)


_VIEWS: dict[str, Callable[[HttpRequest, WikiPage], HttpResponse]] = {
    "read": _read, "history": _history, "diff": _diff, "links": _links, "files": _files,
    "source": _source,
}  # fmt: skip


def _missing(request: HttpRequest, slug: str) -> HttpResponse:
    principal = principal_of(request)
    context = {
        "slug": slug,
        "name": slug.rpartition("/")[2],
        "crumbs": crumbs(slug),
        "may_edit": may_edit(principal) and not slug.startswith(f"{slugs.COPIES}/"),
        "words": slug.replace("/", " ").replace("-", " "),
        "linking": queries.backlinks(principal, slug)[:20],
    }
    return show(request, "wiki/missing.html", "wiki/missing.html", context, 404)


def _deleted(request: HttpRequest, head: WikiPage) -> HttpResponse:
    principal = principal_of(request)
    context = frame(request, head, "read") | {
        "last": queries.revision(principal, head),
        "may_restore": may_review(principal),
    }
    return show(request, "wiki/deleted.html", "wiki/deleted.html", context, 404)


def whole(request: HttpRequest, name: str) -> int | None:
    """Return a number of the address. Raise InvalidInput."""
    text = request.GET.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput(f"{name} is not a number.", field=name)
    return int(text)
