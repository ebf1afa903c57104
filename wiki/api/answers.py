"""Pages as the API, the tools and the resources tell them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from memory.access import Principal
from wiki import diffs, queries, rendered
from wiki.models import WikiPage, WikiRevision
from wiki.pages import Saved
from wiki.queries import Branch


def page_body(
    principal: Principal, page: WikiPage, revision: WikiRevision, *, asked_for: str = ""
) -> dict[str, Any]:
    """Return a page with one of its texts; `asked_for` is the name that led here."""
    html, contents = rendered.shown(principal, page, revision)
    body = {
        "slug": page.slug,
        "title": revision.title,
        "body": revision.body,
        "html": html,
        "contents": list(contents),
        "revision": revision.revision,
        "newest": page.revision,
        "tags": list(revision.tags),
        "author": revision.author,
        "author_kind": revision.author_kind,
        "comment": revision.comment,
        "waits": page.waits,
        "reviewed": page.reviewed,
        "created_at": page.created_at,
        "updated_at": revision.created_at,
    }
    return body | ({"moved_from": asked_for} if asked_for and asked_for != page.slug else {})


def saved_body(principal: Principal, saved: Saved) -> dict[str, Any]:
    """Return the answer to a save."""
    body = page_body(principal, saved.page, saved.revision)
    return body | {"outcome": saved.outcome}


def read_page(principal: Principal, slug: str, number: int | None = None) -> dict[str, Any]:
    """Return a live page, a redirect followed, with its newest or the named text."""
    asked = queries.page(principal, slug)
    page = queries.live_page(principal, slug) if asked.moved_to or asked.deleted else asked
    revision = queries.revision(principal, page, number)
    return page_body(principal, page, revision, asked_for=asked.slug)


def branch_body(branch: Branch) -> dict[str, Any]:
    """Return a place in the tree with what lies below it."""
    return {
        "slug": branch.slug,
        "name": branch.name,
        "title": branch.title,
        "exists": branch.exists,
        "below": [branch_body(inner) for inner in branch.below],
    }


def diff_body(slug: str, old: WikiRevision | None, new: WikiRevision) -> dict[str, Any]:
    """Return what changed between two revisions; nothing stands for a page before its first."""
    before, after = old.body if old else "", new.body
    found = diffs.compare(before, after)
    number = old.revision if old else 0
    return {
        "slug": slug,
        "old": number,
        "new": new.revision,
        "same": found.same,
        "added": found.added,
        "removed": found.removed,
        "cut": found.cut,
        "titles": [old.title if old else "", new.title],
        "tags": [list(old.tags) if old else [], list(new.tags)],
        "rows": [asdict(row) for row in found.rows],
        "unified": diffs.unified(before, after, f"{slug}@{number}", f"{slug}@{new.revision}"),
    }
