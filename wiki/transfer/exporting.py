"""The whole wiki as a zip: a Markdown file for each page, its files beside it."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from goclaw_site.errors import Conflict, InvalidInput
from memory import audit
from memory.access import Principal
from wiki import attachments, slugs
from wiki.models import WikiAttachment, WikiPage, WikiRevision
from wiki.transfer import frontmatter, manifest
from wiki.transfer.manifest import Manifest

_AT_ONCE = 256 * 1024
#: Longest name of a file or folder that common file systems take, in bytes, with room for ".md".
_NAME_BYTES = 240
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)
_PAGES_AT_ONCE = 100


@dataclass(frozen=True)
class Exported:
    """What stands in the zip; `missing` are files whose bytes are gone from the disk."""

    pages: int
    files: int
    missing: tuple[str, ...]


def export(
    principal: Principal,
    target: Path,
    *,
    overwrite: bool = False,
    step: Callable[[], None] = lambda: None,
) -> Exported:
    """Write every live page and every file of one. The file is there whole, or not at all.

    Copies of other wikis, redirects, deleted pages and old revisions stay behind: a snapshot has
    them. Raises Conflict where the file is there, InvalidInput where it cannot be written.
    """
    if target.exists() and not overwrite:
        raise Conflict(f"{target} is there already. Choose another name, or take --overwrite.")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(draft, "x", zipfile.ZIP_DEFLATED) as out:
            exported = _write(out, step)
        draft.chmod(0o600)
        draft.replace(target)
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror}.", field="file") from None
    finally:
        draft.unlink(missing_ok=True)
    audit.record(principal, "wiki.export", pages=exported.pages, files=exported.files)
    return exported


def page_path(slug: str) -> str:
    """Return the path of a page in the zip."""
    long = any(len(part.encode()) > _NAME_BYTES for part in slug.split("/"))
    return f"{manifest.PAGES}{f'long-names/{slugs.key(slug)}' if long else slug}.md"


def _write(out: zipfile.ZipFile, step: Callable[[], None]) -> Exported:
    live = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0)
    keys = set(live.exclude(slug__startswith=f"{slugs.COPIES}/").values_list("slug_key", flat=True))
    names: dict[str, str] = {}
    facts: dict[str, dict[str, str]] = {}
    missing: list[str] = []
    for row in WikiAttachment.objects.order_by("created_at", "pk").iterator(_PAGES_AT_ONCE):
        if row.slug_key not in keys:
            continue
        if not attachments.path_of(row.pk).is_file():
            missing.append(f"{row.slug}: {row.name}")
            continue
        path = manifest.file_name(str(row.pk), row.name)
        names[str(row.pk)] = path
        facts[path] = {"id": str(row.pk), "slug": row.slug, "name": row.name}
        _copy(out, path, row)
        step()
    hashes: dict[str, str] = {}
    for page, newest in _pages():
        path = page_path(page.slug)
        hashes[path] = manifest.digest(newest.body)
        text = frontmatter.dump(_values(page, newest), manifest.filed(newest.body, path, names))
        out.writestr(_entry(path, newest.created_at), text.encode())
        step()
    out.writestr(_entry(manifest.NAME, _EPOCH), Manifest(hashes, facts).dump().encode())
    return Exported(len(hashes), len(facts), tuple(missing))


def _pages() -> Iterator[tuple[WikiPage, WikiRevision]]:
    live = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0)
    ours = live.exclude(slug__startswith=f"{slugs.COPIES}/").defer("html", "contents")
    ids = list(ours.order_by("slug").values_list("pk", flat=True))
    for start in range(0, len(ids), _PAGES_AT_ONCE):
        rows = {page.pk: page for page in ours.filter(pk__in=ids[start : start + _PAGES_AT_ONCE])}
        for pk in ids[start : start + _PAGES_AT_ONCE]:
            page = rows.get(pk)
            newest = page and page.revisions.filter(revision=page.revision).first()
            if page and newest:
                yield page, newest


def _values(page: WikiPage, newest: WikiRevision) -> dict[str, object]:
    values: dict[str, object] = {"title": newest.title, "slug": page.slug}
    return values | ({"tags": list(newest.tags)} if newest.tags else {})


def _copy(out: zipfile.ZipFile, path: str, row: WikiAttachment) -> None:
    entry = _entry(path, row.created_at)
    entry.compress_type = zipfile.ZIP_STORED
    with attachments.path_of(row.pk).open("rb") as file, out.open(entry, "w") as to:
        while part := file.read(_AT_ONCE):
            to.write(part)


def _entry(path: str, moment: datetime) -> zipfile.ZipInfo:
    when = max(moment.astimezone(UTC), _EPOCH)
    entry = zipfile.ZipInfo(path, when.timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry
