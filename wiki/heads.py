"""Appending a revision: the row, the head, tags, links and the mirror, in one transaction.

For the writers of the wiki alone: `pages`, `review` and the sync of copies.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from memory.access import Principal
from wiki import mirror, slugs
from wiki.access import author_kind
from wiki.edits import Text
from wiki.models import AGENT, HUMAN, WikiPage, WikiRevision, WikiTag
from wiki.rendered import Prepared, keep_links, prepare

__all__ = ["Entry", "append", "count_waiting", "current", "locked", "settle", "text_of"]

EMPTY = Text("", "")


@dataclass(frozen=True)
class Entry:
    """What a revision records beside its text. `seen`: it needs no person's eye."""

    comment: str = ""
    base: int | None = None
    deleted: bool = False
    moved_to: str = ""
    seen: bool = False
    kind: str = ""


def locked(slug: str) -> WikiPage:
    """Return the head of a slug under a row lock, made where there is none. In a transaction."""
    name_key = slugs.key(slug)
    WikiPage.objects.get_or_create(slug_key=name_key, defaults={"slug": slug})
    return WikiPage.objects.select_for_update().get(slug_key=name_key)


def current(page: WikiPage) -> WikiRevision | None:
    """Return the newest revision; None for a head that was made just now."""
    return WikiRevision.objects.filter(page=page, revision=page.revision).first()


def text_of(revision: WikiRevision | None) -> Text:
    """Return what a revision says; nothing where there is none."""
    if revision is None:
        return EMPTY
    return Text(revision.title, revision.body, tuple(revision.tags))


def append(
    principal: Principal, page: WikiPage, text: Text, entry: Entry, prepared: Prepared | None = None
) -> WikiRevision:
    """Add the next revision of a locked page, and let everything that shows it follow."""
    was_live = page.live
    made = prepared or prepare(text.body)
    with transaction.atomic():
        revision = _add_row(principal, page, text, entry)
        _move_head(page, revision, made)
        _replace_tags(page, text.tags if page.live else ())
        keep_links(page, made.links if page.live else ())
        if page.live or was_live:
            mirror.follow(page, revision)
    return revision


def count_waiting(page: WikiPage) -> None:
    """Set what the head of a locked page says about the queue; the caller saves it."""
    waiting = WikiRevision.objects.filter(page=page, author_kind=AGENT, reviewed_at__isnull=True)
    first = waiting.order_by("revision").values_list("revision", flat=True).first()
    page.waits = first is not None
    page.reviewed = page.revision if first is None else first - 1


def settle(principal: Principal, page: WikiPage, upto: int, *, rejected: bool = False) -> int:
    """Mark what waits up to a revision as seen by this person; return how many there were."""
    waiting = WikiRevision.objects.filter(
        page=page, author_kind=AGENT, reviewed_at__isnull=True, revision__lte=upto
    )
    count = waiting.update(
        reviewed_by=principal.actor[:150], reviewed_at=timezone.now(), rejected=rejected
    )
    count_waiting(page)
    page.save(update_fields=["waits", "reviewed"])
    return count


def _add_row(principal: Principal, page: WikiPage, text: Text, entry: Entry) -> WikiRevision:
    kind = entry.kind or author_kind(principal)
    now = timezone.now()
    return WikiRevision.objects.create(
        page=page,
        slug=page.slug,
        revision=page.revision + 1,
        title=text.title,
        body=text.body,
        characters=len(text.body),
        tags=list(text.tags),
        author=principal.actor[:150],
        author_kind=kind,
        comment=entry.comment,
        deleted=entry.deleted,
        moved_to=entry.moved_to,
        base_revision=entry.base,
        reviewed_by=principal.actor[:150] if entry.seen and kind != HUMAN else "",
        reviewed_at=now if entry.seen and kind != HUMAN else None,
        created_at=now,
    )


def _move_head(page: WikiPage, revision: WikiRevision, made: Prepared) -> None:
    page.revision = revision.revision
    page.title = revision.title
    page.deleted = revision.deleted
    page.moved_to = revision.moved_to
    page.author = revision.author
    page.author_kind = revision.author_kind
    page.updated_at = revision.created_at
    page.waits = page.waits or revision.waits
    if not page.waits:
        page.reviewed = revision.revision
    page.html = made.html if page.live else ""
    page.contents = list(made.contents) if page.live else []
    page.html_version = made.version
    page.save()


def _replace_tags(page: WikiPage, tags: tuple[str, ...]) -> None:
    WikiTag.objects.filter(page=page).exclude(tag__in=tags).delete()
    held = set(WikiTag.objects.filter(page=page).values_list("tag", flat=True))
    WikiTag.objects.bulk_create(WikiTag(page=page, tag=tag) for tag in tags if tag not in held)
