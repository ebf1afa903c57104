"""A folder or zip of Markdown into the wiki: pages, files, and the links between them."""

from __future__ import annotations

import posixpath
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from goclaw_site.errors import Conflict, GoclawError, InvalidInput
from memory import audit
from memory.access import Principal
from wiki import attachments, pages, slugs
from wiki.access import require_write
from wiki.edits import MAX_BODY, Edit, check_edit
from wiki.heads import text_of
from wiki.models import MAX_COMMENT, MAX_TITLE, WikiAttachment, WikiPage, WikiRevision
from wiki.rendered import prepare
from wiki.transfer import frontmatter, linking, manifest
from wiki.transfer.frontmatter import Parsed
from wiki.transfer.manifest import Manifest
from wiki.transfer.sources import Source, open_source

_ENDINGS = (".md", ".markdown", ".mdown")
_INDEXES = ("index", "readme", "_index")
#: The page of a folder's own index at the top.
_TOP = "home"
_MAX_BYTES = 4 * MAX_BODY + frontmatter.MAX_CHARACTERS


@dataclass
class Report:
    """What became of the files: counts by outcome, and a reason for each that failed."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, str]] = field(default_factory=list)
    results: list[dict[str, str]] = field(default_factory=list)

    def fault(self, where: str, reason: str) -> None:
        """Note a file that was left out; the others go on."""
        self.counts["failed"] += 1
        self.faults.append({"where": where, "reason": reason})

    def result(self, where: str, slug: str, outcome: str) -> None:
        """Note a page."""
        self.counts[outcome] += 1
        self.results.append({"where": where, "slug": slug, "outcome": outcome})


@dataclass(frozen=True)
class _File:
    """A Markdown file, read, with the slug it gets."""

    path: str
    slug: str
    parsed: Parsed


@dataclass
class _Import:
    """One run: what it reads, what it has found out, where it tells."""

    principal: Principal
    source: Source
    prefix: str
    dry: bool
    report: Report
    export: Manifest | None = None
    files: dict[str, _File] = field(default_factory=dict)
    anchors: dict[str, dict[str, str]] = field(default_factory=dict)
    media: dict[str, str | None] = field(default_factory=dict)


def run(
    principal: Principal,
    path: Path,
    *,
    prefix: str = "",
    dry: bool = False,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Import every Markdown file below a path. Importing the same again changes nothing.

    A bad file is a fault in the report and stops no other. `dry` writes nothing and tells what
    would become of each page. Raises InvalidInput, TooLarge, Refused.
    """
    require_write(principal)
    below = slugs.parse(prefix) if prefix else ""
    with open_source(path) as source:
        work = _Import(principal, source, below, dry, Report())
        if manifest.NAME in source.names:
            work.export = manifest.load(source.read(manifest.NAME, manifest.MAX_BYTES))
        _read_all(work)
        for number, file in enumerate(work.files.values(), 1):
            _import_one(work, file)
            step(number, len(work.files))
        _import_rest(work)
    if not dry:
        counts = work.report.counts
        audit.record(
            principal, "wiki.import", created=counts["created"], saved=counts["saved"],
            unchanged=counts["unchanged"], failed=counts["failed"],
        )  # fmt: skip
    return work.report


def _read_all(work: _Import) -> None:
    taken: dict[str, str] = {}
    for path in sorted(work.source.names, key=_order):
        if not path.lower().endswith(_ENDINGS):
            continue
        try:
            text = work.source.read(path, _MAX_BYTES).decode("utf-8-sig")
            parsed = frontmatter.parse(text.replace("\r\n", "\n").replace("\r", "\n"))
            slug = _slug(work, path, parsed, taken)
        except UnicodeDecodeError:
            work.report.fault(path, "it is not text in UTF-8.")
        except GoclawError as error:
            work.report.fault(path, error.message)
        else:
            taken[slug] = path
            work.files[path] = _File(path, slug, parsed)


def _order(path: str) -> tuple[str, int, str]:
    """Indexes first, so that the folder's name is theirs."""
    folder, name = posixpath.split(path)
    stem = name.rpartition(".")[0].lower()
    return folder, _INDEXES.index(stem) if stem in _INDEXES else len(_INDEXES), name


def _slug(work: _Import, path: str, parsed: Parsed, taken: dict[str, str]) -> str:
    if parsed.slug:
        slug = slugs.parse(_below(work.prefix, parsed.slug))
        if slug in taken:
            raise Conflict(f"its slug '{slug}' is that of {taken[slug]} too.")
        return slug
    folder, name = posixpath.split(path)
    stem = name.rpartition(".")[0]
    segments = [slugs.from_title(part) for part in folder.split("/") if part]
    whole = "/".join([*segments, slugs.from_title(stem)])
    if stem.lower() in _INDEXES:
        index = _below(work.prefix, "/".join(segments)) or _TOP
        if index not in taken:
            return slugs.parse(index)
    slug, number = slugs.parse(_below(work.prefix, whole)), 2
    while slug in taken:
        slug, number = slugs.parse(_below(work.prefix, f"{whole}-{number}")), number + 1
    return slug


def _below(prefix: str, slug: str) -> str:
    return "/".join(part for part in (prefix, slug) if part)


def _import_one(work: _Import, file: _File) -> None:
    try:
        body = _body(work, file)
        edit = Edit(
            title=file.parsed.title[:MAX_TITLE],
            body=body,
            tags=file.parsed.tags,
            comment=f"Imported from {file.path}"[:MAX_COMMENT],
        )
        work.report.result(file.path, file.slug, _save(work, file.slug, edit))
    except GoclawError as error:
        work.report.fault(file.path, error.message)


def _save(work: _Import, slug: str, edit: Edit) -> str:
    """Save over whatever is there: its text stays in the history."""
    page = WikiPage.objects.filter(slug_key=slugs.key(slug), deleted=False).first()
    if page is not None and page.moved_to:
        page = None
    base = page.revision if page is not None else None
    wanted = Edit(edit.title, edit.body, edit.tags, edit.comment, base)
    if not work.dry:
        return pages.save(work.principal, slug, wanted).outcome
    checked = check_edit(slug, wanted)
    if page is None:
        return "created"
    newest = WikiRevision.objects.get(page=page, revision=page.revision)
    return "unchanged" if text_of(newest) == checked.text else "saved"


def _body(work: _Import, file: _File) -> str:
    if work.export is not None:
        return manifest.restored(file.parsed.body, work.export.pages.get(file.path))
    folder = posixpath.dirname(file.path)
    return linking.rewrite(
        file.parsed.body, folder, lambda path, part: _locate(work, file, path, part)
    )


def _locate(work: _Import, file: _File, path: str, fragment: str) -> str | None:
    """Return the address in the wiki of a path of the source; None where nothing is there."""
    target = file if not path else _page_at(work, path)
    if target is not None:
        anchor = f"#{_anchor(work, target, fragment)}" if fragment else ""
        return anchor if not path else f"/wiki/p/{slugs.encode(target.slug)}{anchor}"
    if path in work.source.names and not path.lower().endswith(_ENDINGS):
        return _media(work, file, path)
    return None


def _page_at(work: _Import, path: str) -> _File | None:
    """Return the page that a link means: with its ending or without, or a folder's index."""
    stem = path.removesuffix(".html").removesuffix(".htm")
    found = [path, *(f"{stem}{ending}" for ending in _ENDINGS)]
    for index in ("index", "README", "readme", "_index", "Readme", "INDEX"):
        found += [posixpath.normpath(f"{path}/{index}{ending}") for ending in _ENDINGS]
    return next((work.files[name] for name in found if name in work.files), None)


def _anchor(work: _Import, target: _File, fragment: str) -> str:
    if target.path not in work.anchors:
        contents = prepare(target.parsed.body).contents
        headings = [(line["text"], line["anchor"]) for line in contents]
        work.anchors[target.path] = linking.fragments(headings)
    known = work.anchors[target.path]
    return known.get(fragment) or known.get(fragment.lower()) or fragment


def _media(work: _Import, file: _File, path: str) -> str | None:
    """Return the address of a file, uploaded to the first page that shows it."""
    if path not in work.media:
        try:
            work.media[path] = _upload(work, file.slug, path)
        except GoclawError as error:
            work.report.fault(path, error.message)
            work.media[path] = None
    return work.media[path]


def _upload(work: _Import, slug: str, path: str) -> str:
    parts = work.source.parts(path)
    if work.dry:
        held = attachments.find(slug, parts)
        return f"/media/{held.pk if held else uuid.uuid5(uuid.NAMESPACE_URL, path)}"
    stored = attachments.upload(work.principal, slug, posixpath.basename(path), parts)
    work.report.counts["files"] += int(stored.created)
    return f"/media/{stored.attachment.pk}"


def _import_rest(work: _Import) -> None:
    """Bring back the files of an export under their own ids."""
    if work.export is None:
        return
    for path, facts in sorted(work.export.files.items()):
        try:
            _import_file(work, path, facts)
        except GoclawError as error:
            work.report.fault(path, error.message)


def _import_file(work: _Import, path: str, facts: Mapping[str, str]) -> None:
    if path not in work.source.names:
        raise InvalidInput("the manifest names this file, and it is not there.")
    try:
        wanted = uuid.UUID(facts.get("id", ""))
    except ValueError:
        raise InvalidInput("the manifest has no id for this file.") from None
    slug = _below(work.prefix, slugs.parse(facts.get("slug", "")))
    if WikiAttachment.objects.filter(pk=wanted).exists():
        return
    if not work.dry:
        stored = attachments.upload(
            work.principal, slug, facts.get("name", path), work.source.parts(path), wanted=wanted
        )
        work.report.counts["files"] += int(stored.created)
