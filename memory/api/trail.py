"""The audit trail over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import audit
from memory.api.answers import answers
from memory.api.base import PAGING, MemoryView, RecordPages, only_parameters, query_values
from memory.api.serializers import AuditSerializer
from memory.filters import parse_time

FILTERS = ("since", "actor", "action")


class AuditPages(RecordPages):
    """Newest first."""

    ordering = ("-at", "-id")


class AuditView(MemoryView):
    """Events, for administrators."""

    pagination_class = AuditPages

    @extend_schema(
        summary="List the audit trail",
        parameters=[OpenApiParameter(name, str) for name in FILTERS],
        responses=answers({200: AuditSerializer(many=True)}),
        operation_id="audit_list",
    )
    def get(self, request: Request) -> Response:
        """Return a page of events."""
        only_parameters(request, (*PAGING, *FILTERS))
        given = query_values(request)
        since = given.get("since")
        rows = audit.events(
            self.principal,
            since=parse_time("since", since) if since else None,
            actor=given.get("actor"),
            action=given.get("action"),
        )
        pages = AuditPages()
        page = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(AuditSerializer(page, many=True).data)
