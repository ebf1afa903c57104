"""Pages for the wiki's tests."""

from __future__ import annotations

from typing import Any

from memory.access import Principal
from wiki import pages
from wiki.edits import Edit
from wiki.models import WikiPage

CHIEF = Principal(name="chief", is_admin=True, door="browser")


def edit(body: str, base: int | None = None, **fields: Any) -> Edit:
    return Edit(**{"title": "", "body": body, "base_revision": base, **fields})


def write(
    principal: Principal, slug: str, body: str, base: int | None = None, **fields: Any
) -> pages.Saved:
    """Save a page; on top of what is there unless a base is given."""
    held = WikiPage.objects.filter(slug=slug, deleted=False, moved_to="").first()
    started = base if base is not None or held is None else held.revision
    return pages.save(principal, slug, edit(body, started, **fields))
