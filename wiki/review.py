"""What agents wrote, before a person's eye: accepted as it is, or taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from goclaw_site.errors import Conflict, GoclawError, InvalidInput
from memory import audit
from memory.access import Principal
from wiki import heads, pages
from wiki.access import require_editor
from wiki.edits import Text
from wiki.heads import Entry, text_of
from wiki.merging import merge
from wiki.models import AGENT, MAX_COMMENT, WikiPage, WikiRevision

ACCEPT, REJECT = "accept", "reject"
DECISIONS = (ACCEPT, REJECT)
MAX_AT_ONCE = 500


@dataclass(frozen=True)
class Decided:
    """What a decision did: agents' revisions it settled, and the revision that is newest now."""

    page: WikiPage
    settled: int
    revision: int


def decide(principal: Principal, slug: str, revision: int, decision: str) -> Decided:
    """Accept or reject an agent's revision and the agents' ones before it.

    Raises InvalidInput, NotFound, Refused, or Conflict where nothing waits or where people's later
    edits stand on what would be taken back.
    """
    if decision not in DECISIONS:
        raise InvalidInput(f"decision must be one of {', '.join(DECISIONS)}.", field="decision")
    with audit.refusals(principal, "wiki.review"):
        require_editor(principal)
    with transaction.atomic():
        page = pages.existing(slug)
        waiting = _waiting(page, revision)
        settled = heads.settle(principal, page, revision, rejected=decision == REJECT)
        if decision == REJECT:
            _take_back(principal, page, waiting)
        audit.record(
            principal, "wiki.review", f"page:{page.pk}", decision=decision, revision=revision
        )
    return Decided(page, settled, page.revision)


def accept_many(
    principal: Principal, chosen: Sequence[tuple[str, int]]
) -> list[Decided | GoclawError]:
    """Accept several pages up to the revision that was seen of each; one stops no other."""
    require_editor(principal)
    if len(chosen) > MAX_AT_ONCE:
        raise InvalidInput(f"{len(chosen)} pages; the limit is {MAX_AT_ONCE}.", field="pages")
    return [_accept_one(principal, slug, revision) for slug, revision in chosen]


def last_reviewed(page: WikiPage) -> WikiRevision | None:
    """Return the newest revision before everything that waits; None where an agent began."""
    return page.revisions.filter(revision__lte=page.reviewed).order_by("-revision").first()


def _accept_one(principal: Principal, slug: str, revision: int) -> Decided | GoclawError:
    try:
        return decide(principal, slug, revision, ACCEPT)
    except GoclawError as error:
        return error


def _waiting(page: WikiPage, upto: int) -> list[WikiRevision]:
    """Return agents' revisions that wait, the newest first. Raise Conflict where none does."""
    rows = page.revisions.filter(
        author_kind=AGENT, reviewed_at__isnull=True, revision__lte=upto
    ).order_by("-revision")
    found = list(rows)
    if not found:
        raise Conflict(f"Nothing of '{page.slug}' waits up to revision {upto}.")
    return found


def _take_back(principal: Principal, page: WikiPage, waiting: list[WikiRevision]) -> None:
    """Write the text without the agents' changes as a new revision; later edits of people stay."""
    newest = heads.current(page)
    text: Text | None = None if newest is None or newest.deleted else text_of(newest)
    for revision in waiting:
        text = _without(page, revision, text)
    comment = f"Rejected revision {waiting[0].revision} by {waiting[0].author}"[:MAX_COMMENT]
    if text is None and page.live and newest is not None:
        gone = Text(newest.title, "", tuple(newest.tags))
        entry = Entry(comment=comment, base=page.revision, deleted=True, seen=True)
        heads.append(principal, page, gone, entry)
    elif text is not None and (newest is None or newest.deleted or text != text_of(newest)):
        entry = Entry(comment=comment, base=page.revision, seen=True)
        heads.append(principal, page, text, entry)


def _without(page: WikiPage, revision: WikiRevision, text: Text | None) -> Text | None:
    """Return the text without what one revision changed; None is a page that is not there."""
    previous = page.revisions.filter(revision__lt=revision.revision).order_by("-revision").first()
    gone_before = previous is None or previous.deleted or bool(previous.moved_to)
    before = None if gone_before else text_of(previous)
    after = None if revision.deleted else text_of(revision)
    if text == after:
        return before
    if before is None or after is None or text is None:
        raise _too_late(page)
    body = merge(after.body, text.body, before.body)
    if not body.clean:
        raise _too_late(page)
    title = before.title if text.title == after.title else text.title
    tags = before.tags if text.tags == after.tags else text.tags
    return Text(title, body.text, tags)


def _too_late(page: WikiPage) -> Conflict:
    return Conflict(
        f"People have edited '{page.slug}' since, in the same place. Edit the page by hand, or "
        "restore an earlier revision, and then accept.",
        slug=page.slug,
        revision=page.revision,
    )
