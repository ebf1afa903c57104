"""Agents' edits that wait for a person's eye, each with what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from goclaw_site.errors import GoclawError, InvalidInput
from memory.access import principal_of
from memory.pages.base import go, page, show
from memory.pages.sentences import plural
from wiki import diffs, queries, review
from wiki.access import may_review
from wiki.browser import comparing
from wiki.browser.framing import page_url
from wiki.models import WikiPage, WikiRevision

#: Edits on one page of the queue, and rows that are shown of each.
AT_ONCE = 10
ROWS = 60


@dataclass(frozen=True)
class Waiting:
    """A page with agents' edits: its newest text against the last one a person has seen."""

    page: WikiPage
    newest: WikiRevision
    seen: WikiRevision | None
    diff: diffs.Diff
    rows: Sequence[diffs.Row]
    meta: list[tuple[str, Any]]
    url: str

    @property
    def hidden(self) -> int:
        """Rows that are not shown here."""
        return len(self.diff.rows) - len(self.rows)


@page
@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """The oldest edits first; as many as one sitting takes."""
    principal = principal_of(request)
    heads = list(queries.review_queue(principal)[:AT_ONCE])
    context = {
        "waiting": waiting(heads),
        "total": queries.waiting_count(principal),
        "may_review": may_review(principal),
    }
    return show(request, "wiki/review.html", "wiki/review.html", context)


def waiting(heads: list[WikiPage]) -> list[Waiting]:
    """Return what waits on these pages, with one query for all their texts."""
    wanted = Q(pk__in=[])
    for head in heads:
        wanted |= Q(page=head, revision__in=(head.revision, head.reviewed))
    texts = {(row.page_id, row.revision): row for row in WikiRevision.objects.filter(wanted)}
    return [
        _waiting(head, texts[head.pk, head.revision], texts.get((head.pk, head.reviewed)))
        for head in heads
        if (head.pk, head.revision) in texts
    ]


def _waiting(head: WikiPage, newest: WikiRevision, seen: WikiRevision | None) -> Waiting:
    diff = diffs.compare(seen.body if seen else "", newest.body)
    query = f"view=diff&from={seen.revision}&to={newest.revision}" if seen else ""
    return Waiting(
        page=head,
        newest=newest,
        seen=seen,
        diff=diff,
        rows=diff.rows[:ROWS],
        meta=comparing.meta(seen, newest) if seen else [],
        url=page_url(head.slug, query),
    )


@page
@require_POST
def decide(request: HttpRequest) -> HttpResponse:
    """Accept or reject one edit, or accept all that were picked."""
    principal = principal_of(request)
    picked = [_pair(text) for text in request.POST.getlist("pick")]
    decision = request.POST.get("decision", "")
    if decision == "accept-picked":
        _said(request, review.accept_many(principal, picked))
    else:
        verb, _, pair = decision.partition(":")
        slug, revision = _pair(pair)
        done = review.decide(principal, slug, revision, verb)
        words = "Accepted" if verb == review.ACCEPT else "Rejected: the text before is back on"
        messages.success(request, f"{words} “{done.page.title or done.page.slug}”.")
    return go(request, _next(request))


def _pair(text: str) -> tuple[str, int]:
    """Return slug and revision of `revision@slug`. Raise InvalidInput."""
    number, _, slug = text.partition("@")
    if not (slug and number.isascii() and number.isdigit() and len(number) < 10):
        raise InvalidInput("Choose an edit first.", field="pick")
    return slug, int(number)


def _said(request: HttpRequest, outcomes: Sequence[review.Decided | GoclawError]) -> None:
    failed = [outcome for outcome in outcomes if isinstance(outcome, GoclawError)]
    done = len(outcomes) - len(failed)
    if not outcomes:
        raise InvalidInput("Pick the edits that you have looked at first.", field="pick")
    if done:
        messages.success(request, f"Accepted {plural(done, 'edit')}.")
    for error in failed[:3]:
        messages.warning(request, error.message)


def _next(request: HttpRequest) -> str:
    given = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(given, allowed_hosts=None) and given.startswith("/"):
        return given
    return reverse("wiki-review")
