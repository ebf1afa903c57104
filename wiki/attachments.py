"""Files on pages: kept under their id in the folder `media` of the state directory."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.db import IntegrityError, transaction

from goclaw_site.config import get_config, state_dir
from goclaw_site.errors import InvalidInput, NotFound, TooLarge, Unavailable
from memory import audit
from memory.access import Principal
from wiki import filetypes, slugs
from wiki.access import require_editor, require_write
from wiki.models import WikiAttachment, WikiPage

FOLDER = "media"
#: Before the id while a file is being written: what a crash leaves behind, `wiki gc` removes.
UNFINISHED = ".upload-"
MAX_NAME = 200
_HEAD = 8_192
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class Stored:
    """What an upload did; `created` is false where the page has this content already."""

    attachment: WikiAttachment
    created: bool


def upload(
    principal: Principal,
    slug: str,
    name: str,
    parts: Iterable[bytes],
    *,
    wanted: uuid.UUID | None = None,
) -> Stored:
    """Keep a file for a page, which need not be saved yet. `wanted` is the id it had before.

    `parts` are read once and never held together in memory. Raises InvalidInput for an empty file,
    TooLarge, Refused, Unavailable where the disk takes no more; no half of a file is left.
    """
    with audit.refusals(principal, "wiki.upload"):
        require_write(principal)
    place = _place(slug)
    with _written(parts) as draft:
        held = _held(place, draft.sha256)
        if held is not None:
            _heal(held, draft)
            return Stored(held, created=False)
        return _keep(principal, place, clean_name(name), draft, wanted or uuid.uuid4())


def find(slug: str, parts: Iterable[bytes]) -> WikiAttachment | None:
    """Return the file of a page with this content, if it has one."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return _held(_place(slug), digest.hexdigest())


def remove(principal: Principal, attachment_id: uuid.UUID) -> None:
    """Delete a file for good. Raise NotFound, Refused."""
    require_editor(principal)
    with transaction.atomic():
        row = WikiAttachment.objects.select_for_update().filter(pk=attachment_id).first()
        if row is None:
            raise NotFound("No such file.")
        drop(row)
        audit.record(principal, "wiki.remove_file", f"file:{attachment_id}", bytes=row.size)


def drop(row: WikiAttachment) -> None:
    """Delete a row, and its file once that is certain."""
    path = path_of(row.pk)
    row.delete()
    transaction.on_commit(lambda: path.unlink(missing_ok=True))


def path_of(attachment_id: uuid.UUID) -> Path:
    """Return where the file with this id lies."""
    return state_dir() / FOLDER / str(attachment_id)


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


def clean_name(name: str) -> str:
    """Return a name of one visible line without folders; 'file' where nothing is left."""
    text = "".join("\ufffd" if "\ud800" <= ch <= "\udfff" else ch for ch in name)
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", text))[-1]
    visible = " ".join(_UNSEEN.sub("", last).split()).lstrip(".")
    if len(visible) <= MAX_NAME:
        return visible or "file"
    stem, dot, ending = visible.rpartition(".")
    if not dot or len(ending) > 20:
        return visible[:MAX_NAME]
    return f"{stem[: MAX_NAME - len(ending) - 1]}.{ending}"


def limit_bytes() -> int:
    """Return the size of the largest file."""
    return get_config().wiki.max_attachment_mb * 1024**2


@dataclass(frozen=True)
class _Draft:
    """A file that is whole on the disk and not yet under its name."""

    path: Path
    size: int
    sha256: str
    head: bytes


@contextmanager
def _written(parts: Iterable[bytes]) -> Iterator[_Draft]:
    """Write the parts to a file of their own, which is gone afterwards unless it was renamed."""
    path = state_dir() / FOLDER / f"{UNFINISHED}{uuid.uuid4()}"
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with path.open("xb") as out:
            size, digest, head = _copy(parts, out)
            out.flush()
            os.fsync(out.fileno())
        path.chmod(0o600)
        yield _Draft(path, size, digest, head)
    except OSError as error:
        raise Unavailable(
            f"The file could not be stored: {error.strerror}. Nothing was kept of it; try again "
            "once there is room."
        ) from error
    finally:
        path.unlink(missing_ok=True)


def _copy(parts: Iterable[bytes], out: BinaryIO) -> tuple[int, str, bytes]:
    limit, size, digest, head = limit_bytes(), 0, hashlib.sha256(), b""
    for part in parts:
        size += len(part)
        if size > limit:
            raise TooLarge(
                f"The file is larger than {limit // 1024**2} MiB, the limit for a file "
                "(wiki.max_attachment_mb).",
                field="file",
            )
        digest.update(part)
        if len(head) < _HEAD:
            head += part[: _HEAD - len(head)]
        out.write(part)
    if not size:
        raise InvalidInput("The file is empty.", field="file")
    return size, digest.hexdigest(), head


def _keep(principal: Principal, slug: str, name: str, draft: _Draft, wanted: uuid.UUID) -> Stored:
    """Make the row, then give the file its name: a row that is there has its file."""
    try:
        with transaction.atomic():
            row = WikiAttachment.objects.create(
                pk=wanted,
                slug=slug,
                slug_key=slugs.key(slug),
                content_key=content_key(slug, draft.sha256),
                name=name,
                content_type=filetypes.of(draft.head, name),
                size=draft.size,
                sha256=draft.sha256,
                uploader=principal.actor[:150],
            )
            audit.record(principal, "wiki.upload", f"file:{row.pk}", bytes=draft.size)
            draft.path.rename(path_of(row.pk))
    except IntegrityError:
        held = _held(slug, draft.sha256)
        if held is None:
            raise
        return Stored(held, created=False)
    return Stored(row, created=True)


def _held(slug: str, sha256: str) -> WikiAttachment | None:
    return WikiAttachment.objects.filter(content_key=content_key(slug, sha256)).first()


def _heal(row: WikiAttachment, draft: _Draft) -> None:
    """A row whose file was lost gets it back, so that every page that shows it does again."""
    if not path_of(row.pk).exists():
        draft.path.rename(path_of(row.pk))


def _place(slug: str) -> str:
    """Return the slug that files hang on: that of a page which moved is its new one."""
    name = slugs.parse(slug)
    page = WikiPage.objects.filter(slug_key=slugs.key(name)).first()
    return page.moved_to if page is not None and page.moved_to else name
