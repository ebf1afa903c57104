"""The catalog over HTTP."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory import catalog
from memory.api.answers import CatalogAnswer, ImportedAnswer, answers
from memory.api.base import MemoryView, only_parameters, parsed
from memory.api.errors import printable
from memory.api.serializers import CatalogSerializer

#: More than this takes longer than a request should.
MOST_ROWS = 2000


def report_body(report: catalog.Report) -> dict[str, Any]:
    """Return what an import did, for programs."""
    return {
        "written": report.written,
        "dry_run": report.dry_run,
        **report.counts,
        "superseded": report.superseded,
        "results": [printable(asdict(result)) for result in report.results],
    }


class CatalogExportView(MemoryView):
    """Agents' notes and configuration."""

    @extend_schema(
        summary="Export the catalog",
        responses=answers({200: CatalogAnswer}),
        operation_id="memory_export",
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Return the catalog as a file; for administrators."""
        only_parameters(request)
        pieces = catalog.export(self.principal)
        answer = StreamingHttpResponse(pieces, content_type="application/json")
        answer["Content-Disposition"] = 'attachment; filename="catalog.json"'
        return answer


class CatalogImportView(MemoryView):
    """The way back."""

    @extend_schema(
        summary="Import a catalog",
        request=CatalogSerializer,
        responses=answers({200: ImportedAnswer}),
        operation_id="memory_import",
    )
    def post(self, request: Request) -> Response:
        """Write what is new and tell what became of each row; for administrators."""
        only_parameters(request)
        given = parsed(CatalogSerializer, request.data)
        how = {name: given.pop(name) for name in ("dry_run", "skip_bad")}
        report = catalog.load(self.principal, given, most=MOST_ROWS, **how)
        return Response(report_body(report))
