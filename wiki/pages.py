"""The writers of pages: save, restore, delete, undelete, move."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import F

from goclaw_site.errors import Conflict, NotFound
from memory import audit
from memory.access import Principal
from memory.drafts import check_line
from wiki import attachments, heads, slugs
from wiki.access import author_kind, require_editor, require_write
from wiki.edits import Edit, StaleBase, Text, check_body, check_edit, default_title
from wiki.heads import Entry, text_of
from wiki.merging import merge
from wiki.models import HUMAN, MAX_COMMENT, WikiPage, WikiRevision
from wiki.rendered import prepare

__all__ = [
    "Saved",
    "conflict",
    "create",
    "delete",
    "existing",
    "found",
    "move",
    "restore",
    "save",
    "undelete",
]


@dataclass(frozen=True)
class Saved:
    """What a save did: `outcome` is created, saved or unchanged."""

    page: WikiPage
    revision: WikiRevision
    outcome: str


def save(principal: Principal, slug: str, edit: Edit) -> Saved:
    """Save a page; a save that changes nothing makes no revision.

    Raises InvalidInput, TooLarge, Refused, or StaleBase with mine, theirs and base.
    """
    with audit.refusals(principal, "wiki.save"):
        require_write(principal)
    name = slugs.parse(slug)
    checked = check_edit(name, edit)
    prepared = prepare(checked.body)
    with transaction.atomic():
        page = heads.locked(name)
        newest = heads.current(page)
        if newest is not None and _changes_nothing(page, newest, checked):
            return Saved(page, newest, "unchanged")
        _require_fresh(page, newest, checked)
        outcome = "saved" if page.live else "created"
        base = None if newest is None else checked.base_revision
        entry = Entry(comment=checked.comment, base=base)
        revision = heads.append(principal, page, checked.text, entry, prepared)
        _note(principal, "save", revision)
    return Saved(page, revision, outcome)


def create(principal: Principal, edit: Edit) -> Saved:
    """Save a new page under a slug made from its title; a number is added where it is taken."""
    require_write(principal)
    stem = slugs.from_title(edit.title or default_title("", check_body(edit.body)))
    taken = set(
        WikiPage.objects.filter(slug__startswith=stem, deleted=False).values_list("slug", flat=True)
    )
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem[:190]}-{number}", number + 1
    return save(principal, slug, edit)


def restore(principal: Principal, slug: str, revision: int, comment: str = "") -> Saved:
    """Make an old text the newest again, as a new revision. Raise NotFound, Refused."""
    require_write(principal)
    line = check_line("comment", comment, MAX_COMMENT)
    old = _text_at(slug, revision)
    prepared = prepare(old.body)
    with transaction.atomic():
        page = existing(slug)
        newest = heads.current(page)
        if newest is not None and page.live and text_of(newest) == text_of(old):
            return Saved(page, newest, "unchanged")
        entry = Entry(comment=line or f"Restored revision {revision}", base=page.revision)
        made = heads.append(principal, page, text_of(old), entry, prepared)
        _note(principal, "restore", made)
    return Saved(page, made, "saved")


def delete(principal: Principal, slug: str, comment: str = "") -> WikiRevision:
    """Delete a page; its history stays and it can be restored. Raise NotFound, Refused."""
    _require_editor(principal, "delete")
    line = check_line("comment", comment, MAX_COMMENT)
    with transaction.atomic():
        page = existing(slug)
        if not page.live:
            raise NotFound(f"There is no page '{page.slug}'.")
        text = text_of(heads.current(page))
        if author_kind(principal) == HUMAN:
            heads.settle(principal, page, page.revision)
        entry = Entry(comment=line, base=page.revision, deleted=True)
        revision = heads.append(principal, page, Text(text.title, "", text.tags), entry)
        _note(principal, "delete", revision)
    return revision


def undelete(principal: Principal, slug: str) -> Saved:
    """Bring a deleted page back as it was. Raise NotFound, Conflict."""
    page = found(slug)
    if not page.deleted:
        raise Conflict(f"'{page.slug}' is not deleted.")
    texts = page.revisions.filter(deleted=False, moved_to="").order_by("-revision")
    last = texts.values_list("revision", flat=True).first()
    if last is None:
        raise NotFound(f"Nothing is left of '{page.slug}'.")
    return restore(principal, slug, last, comment="Brought back")


def move(principal: Principal, slug: str, to: str, comment: str = "") -> WikiPage:
    """Give a page another name. Its history goes with it; the old name leads to the new one.

    A target that is deleted, or leads elsewhere, is taken over with its history. Raises NotFound,
    InvalidInput, or Conflict where a page stands.
    """
    _require_editor(principal, "move")
    target = slugs.parse(to)
    line = check_line("comment", comment, MAX_COMMENT)
    # Rendered texts are kept for a while: what is slow is done before the lock.
    prepare(text_of(heads.current(found(slug))).body)
    with transaction.atomic():
        page = existing(slug)
        if not page.live:
            raise NotFound(f"There is no page '{page.slug}'.")
        if page.slug == target:
            raise Conflict(f"The page is called '{target}' already.")
        old, number = page.slug, page.revision
        _take_over(page, target)
        _rename(page, target)
        text = text_of(heads.current(page))
        entry = Entry(comment=line or f"Moved from {old}"[:MAX_COMMENT], base=page.revision,
                      seen=True)  # fmt: skip
        revision = heads.append(principal, page, text, entry)
        _leave_redirect(principal, old, target, number, text)
        _note(principal, "move", revision)
    return page


def _changes_nothing(page: WikiPage, newest: WikiRevision, edit: Edit) -> bool:
    """The page says it already, or the author left the text as it was when they began."""
    if not page.live:
        return False
    if text_of(newest) == edit.text:
        return True
    base = _base(page, edit)
    return base is not None and base.revision < page.revision and text_of(base) == edit.text


def _require_fresh(page: WikiPage, newest: WikiRevision | None, edit: Edit) -> None:
    if newest is None or edit.base_revision == page.revision:
        return
    if edit.base_revision is None and not page.live:
        return
    raise conflict(page, newest, edit)


def conflict(page: WikiPage, newest: WikiRevision, edit: Edit) -> StaleBase:
    """Return the error that carries what was sent, what is there, and what both came from."""
    base = text_of(_base(page, edit))
    theirs = text_of(newest)
    if page.moved_to:
        words = f"The page was moved to '{page.moved_to}' while you wrote."
    elif page.deleted:
        words = "The page was deleted while you wrote."
    elif edit.base_revision is None:
        words = f"There is a page '{page.slug}' already."
    else:
        words = f"{newest.author or 'Somebody'} saved this page while you wrote."
    merged = merge(base.body, edit.body, theirs.body)
    return StaleBase(
        f"{words} Nothing of yours is saved yet, and nothing is lost: your text is in this answer.",
        slug=page.slug,
        revision=page.revision,
        base_revision=edit.base_revision,
        deleted=page.deleted,
        moved_to=page.moved_to,
        mine=edit.body,
        theirs=theirs.body,
        base=base.body,
        merged=merged.text if page.live and merged.clean else None,
        titles={"mine": edit.title, "theirs": theirs.title, "base": base.title},
        tags={"mine": list(edit.tags), "theirs": list(theirs.tags), "base": list(base.tags)},
    )


def _text_at(slug: str, number: int) -> WikiRevision:
    """Return a revision that has a text. Raise NotFound."""
    page = found(slug)
    old = WikiRevision.objects.filter(page=page, revision=number).first()
    if old is None or old.deleted or old.moved_to:
        raise NotFound(f"Revision {number} of '{page.slug}' holds no text to restore.")
    return old


def _base(page: WikiPage, edit: Edit) -> WikiRevision | None:
    if edit.base_revision is None:
        return None
    return WikiRevision.objects.filter(page=page, revision=edit.base_revision).first()


def found(slug: str) -> WikiPage:
    """Return the head of a slug, deleted or not. Raise NotFound, InvalidInput."""
    name = slugs.parse(slug)
    page = WikiPage.objects.filter(slug_key=slugs.key(name)).first()
    if page is None:
        raise NotFound(f"There is no page '{name}'.")
    return page


def existing(slug: str) -> WikiPage:
    """Return the head under a lock. Raise NotFound."""
    return WikiPage.objects.select_for_update().get(pk=found(slug).pk)


def _take_over(page: WikiPage, target: str) -> None:
    """Put the history of a name that is free again before that of the page. Raise Conflict."""
    other = WikiPage.objects.select_for_update().filter(slug_key=slugs.key(target)).first()
    if other is None:
        return
    if other.live:
        raise Conflict(f"There is a page '{target}' already. Move or delete it first.")
    shift = other.revision
    page.revisions.update(revision=-F("revision") - shift)
    page.revisions.update(revision=-F("revision"))
    page.revisions.update(base_revision=F("base_revision") + shift)
    other.revisions.update(page=page)
    page.revision += shift
    other.delete()


def _rename(page: WikiPage, target: str) -> None:
    old = page.slug
    attachments.rename(old, target)
    WikiPage.objects.filter(moved_to=old).update(moved_to=target)
    page.slug, page.slug_key = target, slugs.key(target)
    page.revisions.update(slug=target)
    heads.count_waiting(page)
    page.save()


def _leave_redirect(principal: Principal, old: str, to: str, number: int, text: Text) -> None:
    """The numbers of the old name go on, so that a save begun before the move is seen as late."""
    redirect = WikiPage.objects.create(slug=old, slug_key=slugs.key(old), revision=number)
    entry = Entry(comment=f"Moved to {to}"[:MAX_COMMENT], moved_to=to, seen=True)
    heads.append(principal, redirect, Text(text.title, ""), entry)


def _require_editor(principal: Principal, deed: str) -> None:
    with audit.refusals(principal, f"wiki.{deed}"):
        require_editor(principal)


def _note(principal: Principal, deed: str, revision: WikiRevision) -> None:
    audit.record(
        principal, f"wiki.{deed}", f"page:{revision.page_id}", revision=revision.revision,
        by=revision.author_kind,
    )  # fmt: skip
