"""Files of pages over HTTP."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from goclaw_site.errors import InvalidInput, TooLarge
from memory.api.answers import answers
from memory.api.base import (
    PAGING,
    JobPages,
    MemoryView,
    Utf8JsonParser,
    only_parameters,
    query_values,
)
from wiki import attachments, queries
from wiki.api.serializers import AttachmentSerializer, UploadSerializer


class FilePages(JobPages):
    """The newest first."""


class AttachmentsView(MemoryView):
    """The collection."""

    parser_classes = [MultiPartParser, Utf8JsonParser]
    pagination_class = FilePages

    @extend_schema(
        summary="List files",
        parameters=[OpenApiParameter("slug", str, description="Only the files of this page.")],
        responses=answers({200: AttachmentSerializer(many=True)}),
        operation_id="wiki_files",
    )
    def get(self, request: Request) -> Response:
        """Return a page of files, the newest first."""
        only_parameters(request, (*PAGING, "slug"))
        rows = queries.attachments(self.principal, query_values(request).get("slug", ""))
        turner = FilePages()
        page = turner.paginate_queryset(rows, request, view=self)
        return turner.get_paginated_response(AttachmentSerializer(page, many=True).data)

    @extend_schema(
        summary="Upload a file",
        request={"multipart/form-data": UploadSerializer},
        responses=answers({201: AttachmentSerializer, 200: AttachmentSerializer}),
        operation_id="wiki_upload",
    )
    def post(self, request: Request) -> Response:
        """Keep a file for a page: 201 new, 200 where the page has this content already."""
        file = request.FILES.get("file")
        slug = request.data.get("slug") if hasattr(request.data, "get") else None
        if file is None or not isinstance(slug, str):
            missing = "file" if file is None else "slug"
            raise InvalidInput(
                f"{missing} is missing: send multipart/form-data with slug and file.",
                field=missing,
            )
        _refuse_large(file.size or 0)
        stored = attachments.upload(self.principal, slug, file.name or "", file.chunks())
        answer = AttachmentSerializer(stored.attachment).data
        return Response(answer, status=201 if stored.created else 200)


class AttachmentView(MemoryView):
    """One file."""

    @extend_schema(
        summary="Describe a file",
        responses=answers({200: AttachmentSerializer}),
        operation_id="wiki_file",
    )
    def get(self, request: Request, attachment_id: uuid.UUID) -> Response:
        """Return what is known of the file; its bytes are at `url`."""
        row = queries.attachment(self.principal, attachment_id)
        return Response(AttachmentSerializer(row).data)

    @extend_schema(
        summary="Delete a file", responses=answers({204: None}), operation_id="wiki_file_delete"
    )
    def delete(self, request: Request, attachment_id: uuid.UUID) -> Response:
        """Delete the file for good."""
        attachments.remove(self.principal, attachment_id)
        return Response(status=204)


def _refuse_large(size: int) -> None:
    """Before a byte is copied: the web server has the whole body already."""
    limit = attachments.limit_bytes()
    if size > limit:
        raise TooLarge(
            f"The file has {size / 1024**2:,.1f} MiB; the limit is {limit // 1024**2} MiB "
            "(wiki.max_attachment_mb).",
            field="file",
        )
