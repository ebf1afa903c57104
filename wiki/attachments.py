"""Files on pages: kept under their id in the folder `media` of the state directory."""

from __future__ import annotations

from wiki import slugs
from wiki.models import WikiAttachment


def rename(old: str, new: str) -> None:
    """Hang the files of one slug on another; part of a move."""
    for row in WikiAttachment.objects.filter(slug_key=slugs.key(old)):
        wanted = content_key(new, row.sha256)
        taken = WikiAttachment.objects.filter(content_key=wanted).exists()
        row.slug, row.slug_key = new, slugs.key(new)
        row.content_key = None if taken else wanted
        row.save(update_fields=["slug", "slug_key", "content_key"])


def content_key(slug: str, sha256: str) -> str:
    """Return what holds the same content off a page twice."""
    return slugs.key(f"{slugs.key(slug)}:{sha256}")
