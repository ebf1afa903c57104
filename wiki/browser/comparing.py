"""Two texts side by side or in one column."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from memory.access import principal_of
from wiki import diffs, queries
from wiki.browser.framing import page_url
from wiki.models import WikiPage, WikiRevision

MODES = ("side", "inline")


def revisions(request: HttpRequest, head: WikiPage, old: int, new: int) -> dict[str, Any]:
    """Return what the comparison of two revisions shows. Raise NotFound."""
    principal = principal_of(request)
    before = queries.revision(principal, head, old)
    after = queries.revision(principal, head, new)
    mode = request.GET.get("mode", "side")
    mode = mode if mode in MODES else "side"
    entire = request.GET.get("all") == "1"
    here = f"view=diff&from={old}&to={new}"
    return {
        "before": before,
        "after": after,
        "mode": mode,
        "entire": entire,
        "diff": diffs.compare(before.body, after.body, None if entire else diffs.CONTEXT),
        "meta": meta(before, after),
        "modes": [
            (name, label, page_url(head.slug, f"{here}&mode={name}{'&all=1' if entire else ''}"))
            for name, label in (("side", "Side by side"), ("inline", "In one column"))
        ],
        "toggle": page_url(head.slug, f"{here}&mode={mode}{'' if entire else '&all=1'}"),
    }


def meta(before: WikiRevision | None, after: WikiRevision) -> list[tuple[str, Any]]:
    """Return what changed beside the text: (name, pieces of the line)."""
    changed = []
    old_title = before.title if before else ""
    if old_title != after.title:
        changed.append(("Title", diffs.words(old_title, after.title)))
    old_tags = ", ".join(before.tags if before else [])
    new_tags = ", ".join(after.tags)
    if old_tags != new_tags:
        changed.append(("Tags", diffs.words(old_tags, new_tags)))
    return changed
