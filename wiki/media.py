"""Files as browsers get them: pictures shown, everything else downloaded into a sandbox."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header, parse_etags
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from goclaw_site.errors import NotFound
from memory.api.base import MemoryView
from wiki import attachments, filetypes, queries
from wiki.models import WikiAttachment

_AT_ONCE = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
#: Whatever a browser takes such a file for, it runs nothing, loads nothing and has no origin.
SANDBOX = "default-src 'none'; sandbox"


@dataclass(frozen=True)
class Span:
    """The bytes from `start` up to, not including, `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """How many there are."""
        return self.end - self.start


class AnyType(BaseRenderer):
    """Takes any Accept header: what a file is, the file decides."""

    media_type = "*/*"
    format = "file"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        """Errors are JSON here too."""
        return JSONRenderer().render(data)


class MediaView(MemoryView):
    """One file, for everybody with access."""

    renderer_classes = [JSONRenderer, AnyType]

    @extend_schema(exclude=True)
    def get(self, request: Request, attachment_id: uuid.UUID) -> HttpResponseBase:
        """Answer with the file, a part of it, or 304 where the caller has it."""
        row = queries.attachment(self.principal, attachment_id)
        path = attachments.path_of(row.pk)
        if not path.is_file():
            raise NotFound("The file is gone from the server's disk. A backup may have it.")
        return serve(request._request, row, path)  # noqa: SLF001  the request below DRF's


def serve(request: HttpRequest, row: WikiAttachment, path: Path) -> HttpResponseBase:
    """Return the answer for a file that is there."""
    etag = f'"{row.sha256}"'
    response: HttpResponseBase
    if _is_held(request, etag):
        response = HttpResponse(status=304)
    else:
        response = _with_bytes(request, row, path, etag)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    response["Accept-Ranges"] = "bytes"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def span_of(header: str, size: int) -> Span | None:
    """Return the part that a Range header asks for, or None for all of it.

    Several parts at once are answered with the whole. A part beyond the end has no length.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or match.group(1) == match.group(2) == "":
        return None
    first, last = match.groups()
    if not first:
        return Span(max(size - int(last), 0), size)
    start = int(first)
    end = min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return None
    return Span(start, end) if start < size else Span(size, size)


def _with_bytes(
    request: HttpRequest, row: WikiAttachment, path: Path, etag: str
) -> HttpResponseBase:
    size = path.stat().st_size
    asked = request.headers.get("If-Range", etag) == etag
    span = span_of(request.headers.get("Range", ""), size) if asked else None
    if span is not None and not span.length:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    wanted = span or Span(0, size)
    head = request.method == "HEAD"
    response = StreamingHttpResponse(
        () if head else _read(path, wanted),
        status=200 if span is None else 206,
        content_type=_content_type(row),
    )
    response["Content-Length"] = str(wanted.length)
    if span is not None:
        response["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{size}"
    shown = filetypes.shown(row.content_type)
    disposition = content_disposition_header(not shown, row.name)
    response["Content-Disposition"] = disposition or "inline"
    return response


def _content_type(row: WikiAttachment) -> str:
    return f"{row.content_type}; charset=utf-8" if row.content_type.startswith("text/") \
        else row.content_type  # fmt: skip


def _is_held(request: HttpRequest, etag: str) -> bool:
    given = request.headers.get("If-None-Match")
    if given is None:
        return False
    tags = parse_etags(given)
    return tags == ["*"] or etag in (tag.removeprefix("W/") for tag in tags)


def _read(path: Path, span: Span) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(span.start)
        left = span.length
        while left and (part := file.read(min(_AT_ONCE, left))):
            left -= len(part)
            yield part
