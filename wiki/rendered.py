"""What is made from a body when it is saved: HTML, table of contents, links to other pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from django.urls import get_script_prefix

from goclaw_site.errors import InvalidInput
from memory.access import Principal
from memory.chunks import batches
from wiki import queries, slugs
from wiki.models import WikiLink, WikiPage, WikiRevision
from wiki.rendering import VERSION, Rendered, dress, render


@dataclass(frozen=True)
class Prepared:
    """What stands beside a text, and the version of the renderer that made it."""

    html: str
    contents: Sequence[Any]
    links: tuple[str, ...]
    version: str


def prepare(body: str) -> Prepared:
    """Return everything made from a body; outside a transaction where it is large."""
    made = render(body, named)
    return Prepared(_html(made), _contents(made), _pages(made.links), str(VERSION))


def shown(
    principal: Principal, page: WikiPage, revision: WikiRevision
) -> tuple[str, Sequence[Any]]:
    """Return the HTML of a text for this moment, and its table of contents."""
    if revision.revision == page.revision and page.live:
        html, contents = stored(page, revision)
        return dressed(html, queries.missing_links(principal, page)), contents
    made = render(revision.body, named)
    return dressed(_html(made), queries.missing(principal, _pages(made.links))), _contents(made)


def stored(page: WikiPage, revision: WikiRevision | None = None) -> tuple[str, Sequence[Any]]:
    """Return the stored HTML of a page; it is made anew where the renderer has changed."""
    if page.html_version != str(VERSION):
        newest = revision or WikiRevision.objects.get(page=page, revision=page.revision)
        made = prepare(newest.body)
        page.html, page.contents, page.html_version = made.html, list(made.contents), made.version
        # Only where nobody has saved meanwhile; that save stored its own.
        kept = WikiPage.objects.filter(pk=page.pk, revision=page.revision).update(
            html=made.html, contents=page.contents, html_version=made.version
        )
        if kept:
            keep_links(page, made.links)
    return page.html, page.contents


def preview(principal: Principal, body: str) -> str:
    """Return the HTML of a text that is not saved."""
    made = render(body, named)
    return dressed(_html(made), queries.missing(principal, _pages(made.links)))


def dressed(html: str, missing: frozenset[str]) -> str:
    """Return HTML with marks on links to nowhere and the path that the server stands under."""
    return dress(html, missing, get_script_prefix().rstrip("/"))


def named(target: str) -> str:
    """Return the slug that `[[target]]` means, or nothing where it names no page."""
    try:
        return slugs.from_link(target)
    except InvalidInput:
        return ""


def keep_links(page: WikiPage, targets: Iterable[str]) -> None:
    """Make the rows say what the newest text links to."""
    wanted = {slugs.key(target): target for target in targets}
    held = set(WikiLink.objects.filter(page=page).values_list("target_key", flat=True))
    for gone in batches(sorted(held - set(wanted))):
        WikiLink.objects.filter(page=page, target_key__in=gone).delete()
    WikiLink.objects.bulk_create(
        [
            WikiLink(page=page, target=target, target_key=name_key)
            for name_key, target in wanted.items()
            if name_key not in held
        ],
        ignore_conflicts=True,
    )


def _html(made: Rendered) -> str:
    """A text that is shown plainly says why."""
    note = f'<p class="render-note">{escape(made.note)}</p>\n' if made.note else ""
    return note + made.html


def _pages(links: Iterable[str]) -> tuple[str, ...]:
    """Return the slugs of links; those that were typed as addresses may be none."""
    found: dict[str, None] = {}
    for link in links:
        try:
            found[slugs.read(link)] = None
        except InvalidInput:
            continue
    return tuple(found)


def _contents(made: Rendered) -> list[dict[str, Any]]:
    return [asdict(heading) for heading in made.headings]
