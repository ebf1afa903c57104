"""Recent changes as an Atom feed, for readers with a login or a key."""

from __future__ import annotations

import re
from html import escape

from django.http import HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils.feedgenerator import Atom1Feed
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from memory.api.base import MemoryView
from wiki import queries, slugs
from wiki.media import AnyType
from wiki.models import AGENT, WikiRevision

_ENTRIES = 50
#: Signs that XML cannot hold.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class FeedView(MemoryView):
    """The newest saves."""

    renderer_classes = [AnyType]
    content_negotiation_class = DefaultContentNegotiation

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the feed: titles, comments and links, never the texts."""
        feed = Atom1Feed(
            title="Recent changes in the wiki",
            link=request.build_absolute_uri(_address("")),
            description="Every save of every page",
            feed_url=request.build_absolute_uri(),
        )
        for row in queries.recent(self.principal)[:_ENTRIES]:
            feed.add_item(
                title=_plain(f"{row.title or row.slug}: {_deed(row)}"),
                link=request.build_absolute_uri(_address(row.slug)),
                # Readers take a summary for HTML.
                description=escape(_plain(row.comment)),
                author_name=_plain(row.author) or "unknown",
                pubdate=row.created_at,
                updateddate=row.created_at,
                unique_id=f"urn:goclaw:wiki:{row.page_id}:{row.pk}",
            )
        text = feed.writeString("utf-8")
        return HttpResponse(text, content_type="application/atom+xml; charset=utf-8")


def _deed(row: WikiRevision) -> str:
    if row.deleted:
        return "deleted"
    if row.moved_to:
        return f"moved to {row.moved_to}"
    by = " by an agent" if row.author_kind == AGENT else ""
    return f"{'created' if row.revision == 1 else 'changed'}{by}"


def _address(slug: str) -> str:
    """Return where the browser shows a page; the start of the wiki without a slug."""
    try:
        return reverse("wiki-page", args=[slug]) if slug else reverse("wiki")
    except NoReverseMatch:
        return f"/wiki/p/{slugs.encode(slug)}" if slug else "/wiki/"


def _plain(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
