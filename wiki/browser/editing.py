"""The editor: new pages, preview, save, and what is shown when two people save at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST, require_safe

from goclaw_site.errors import GoclawError, InvalidInput, NotFound, TooLarge
from memory.access import Principal, principal_of
from memory.pages.base import UNPROCESSABLE, go, page, show
from wiki import diffs, merging, pages, queries, rendered, slugs
from wiki.access import require_write
from wiki.browser.framing import crumbs, frame, page_url
from wiki.edits import MAX_BODY, Edit, StaleBase, default_title
from wiki.models import WikiPage

CONFLICT = 409
#: Longer texts take seconds to render: too long to do it again and again while somebody types.
LIVE = 200_000
TOO_LARGE = 413
_FIELDS = ("title", "body", "tags", "comment")


@dataclass(frozen=True)
class PageForm:
    """What stands in the editor; `base` is the revision it was made from, empty for a new page."""

    title: str = ""
    body: str = ""
    tags: str = ""
    comment: str = ""
    base: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)

    def edit(self) -> Edit:
        """Return what is to be saved. Raise InvalidInput."""
        if self.base and not (self.base.isascii() and self.base.isdigit()):
            raise InvalidInput("The form is damaged: copy your text and open the editor again.")
        tags = tuple(tag.strip() for tag in self.tags.split(",") if tag.strip())
        base = int(self.base[:9]) if self.base else None
        return Edit(self.title, self.body, tags, self.comment, base)

    def failed(self, error: GoclawError) -> PageForm:
        """Return the form with the problem at the field it is about."""
        name = error.field if error.field in _FIELDS else "form"
        return replace(self, problems={name or "form": error.message})


def posted(values: QueryDict) -> PageForm:
    """Return the form as it was sent; browsers send CR LF for every line break."""
    return PageForm(
        title=values.get("title", ""),
        body=values.get("body", "").replace("\r\n", "\n"),
        tags=values.get("tags", ""),
        comment=values.get("comment", ""),
        base=values.get("base", ""),
    )


@page
@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """Ask for a title, then open the editor under the name that it gives."""
    require_write(principal_of(request))
    title, folder = request.GET.get("title", "").strip(), request.GET.get("in", "").strip()
    if not title:
        return show(request, "wiki/new.html", "wiki/new.html", {"title": title, "folder": folder})
    try:
        stem = slugs.from_title(title)
        slug = slugs.parse(f"{slugs.from_link(folder)}/{stem}" if folder else stem)
    except InvalidInput as error:
        context = {"title": title, "folder": folder, "problem": error.message}
        return show(request, "wiki/new.html", "wiki/new.html", context, UNPROCESSABLE)
    return HttpResponseRedirect(page_url(slug, urlencode({"view": "edit", "title": title})))


def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the editor with the newest text, or empty for a page that is not there yet."""
    principal = principal_of(request)
    require_write(principal)
    head = _head(principal, slug)
    if head is not None and head.moved_to:
        return HttpResponseRedirect(page_url(head.moved_to, "view=edit"))
    slugs.parse(slug)
    return _editor(request, slug, head, _filled(request, slug, head))


def _head(principal: Principal, slug: str) -> WikiPage | None:
    try:
        return queries.page(principal, slug)
    except NotFound:
        return None


def _filled(request: HttpRequest, slug: str, head: WikiPage | None) -> PageForm:
    if head is None or not head.live:
        title = request.GET.get("title", "") or default_title(slug, "").capitalize()
        return PageForm(title=title)
    newest = queries.revision(principal_of(request), head)
    return PageForm(newest.title, newest.body, ", ".join(newest.tags), "", str(newest.revision))


def _editor(
    request: HttpRequest, slug: str, head: WikiPage | None, form: PageForm, status: int = 200
) -> HttpResponse:
    around = frame(request, head, "edit") if head else {"crumbs": crumbs(slug), "view": "edit"}
    context = around | {
        "slug": slug,
        "name": slug.rpartition("/")[2],
        "form": form,
        "fresh": head is None or not head.live,
        "limit": MAX_BODY,
        "preview": _first_preview(principal_of(request), head, form),
    }
    return show(request, "wiki/edit.html", "wiki/parts/editor.html", context, status)


def _first_preview(principal: Principal, head: WikiPage | None, form: PageForm) -> str:
    """The text of the page was rendered when it was saved."""
    if head is not None and head.live and form.base == str(head.revision) and not form.problems:
        newest = queries.revision(principal, head)
        if newest.body == form.body:
            return mark_safe(rendered.shown(principal, head, newest)[0])  # noqa: S308  cleaned
    return _safe_preview(principal, form.body)


def _safe_preview(principal: Principal, body: str) -> str:
    if len(body) > LIVE:
        return format_html(
            "<p><em>The preview rests for texts of more than {} characters. Save to see this one."
            "</em></p>",
            f"{LIVE:,}",
        )
    return mark_safe(rendered.preview(principal, body))  # noqa: S308  it was cleaned


@page
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Return the HTML of what stands in the editor."""
    body = request.POST.get("body", "").replace("\r\n", "\n")
    if len(body) > MAX_BODY:
        raise TooLarge(f"The text has {len(body):,} characters; the limit is {MAX_BODY:,}.")
    html = _safe_preview(principal_of(request), body)
    return render(request, "wiki/parts/preview.html", {"preview": html, "form": {"body": body}})


def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Save what was posted; whatever goes wrong, the text is in the answer."""
    principal = principal_of(request)
    form = posted(request.POST)
    if "preview" in request.POST:
        return _editor(request, slug, _head(principal, slug), form)
    try:
        saved = pages.save(principal, slug, form.edit())
    except StaleBase as stale:
        return _conflict(request, slug, form, stale)
    except GoclawError as error:
        status = TOO_LARGE if isinstance(error, TooLarge) else UNPROCESSABLE
        return _editor(request, slug, _head(principal, slug), form.failed(error), status)
    said = {"created": "Created.", "saved": "Saved.", "unchanged": "Nothing had changed."}
    messages.success(request, said[saved.outcome])
    return go(request, page_url(saved.page.slug))


def _conflict(request: HttpRequest, slug: str, form: PageForm, stale: StaleBase) -> HttpResponse:
    """Offer the merged text where both changes fit, else all three texts and one to edit."""
    told = stale.extra
    base, theirs = str(told["base"]), str(told["theirs"])
    merged = merging.merge(base, form.body, theirs)
    head = _head(principal_of(request), slug)
    clean = merged.clean and told["merged"] is not None
    context = (frame(request, head, "edit") if head else {"crumbs": crumbs(slug)}) | {
        "slug": slug,
        "name": slug.rpartition("/")[2],
        "message": stale.message,
        "form": replace(form, base=str(told["revision"])),
        "gone": bool(told["deleted"] or told["moved_to"]),
        "moved_to": told["moved_to"],
        "clean": clean,
        "merged": form.body if told["deleted"] or told["moved_to"] else merged.text,
        "conflicts": merged.conflicts,
        "theirs": theirs,
        "base": base,
        "mine_diff": diffs.compare(base, form.body),
        "theirs_diff": diffs.compare(base, theirs),
        "merged_diff": diffs.compare(theirs, merged.text) if clean else None,
    }
    return show(request, "wiki/conflict.html", "wiki/parts/conflict.html", context, CONFLICT)
