"""Records over HTTP: write, list, get, amend, delete, bulk."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from goclaw_site.errors import GoclawError, InvalidInput, TooLarge
from memory import filters, queries, write
from memory.access import require_change
from memory.api.answers import BulkAnswer, WrittenAnswer, answers
from memory.api.base import PAGING, MemoryView, RecordPages, parsed, query_values
from memory.api.errors import printable
from memory.api.halves import Halves
from memory.api.serializers import (
    BulkSerializer,
    ChangesSerializer,
    DraftSerializer,
    RecordDetailSerializer,
    RecordSerializer,
    changes_of,
    draft_of,
)
from memory.drafts import Draft

FILTER_PARAMETERS = [
    OpenApiParameter(name, str, many=name in ("scope", "kind", "tag"))
    for name in ("scope", "kind", "domain", "tag", "agent", "source", "since", "until")
] + [OpenApiParameter("include_history", bool)]
CREATED, EXISTING = 201, 200


def written_body(written: write.Written) -> dict[str, Any]:
    """Return the answer to a write."""
    record = written.memory
    return {
        "id": str(record.pk),
        "outcome": written.outcome,
        "scope": record.scope,
        "kind": record.kind,
        "index_state": record.index_state,
        "superseded": [str(pk) for pk in written.superseded],
        "warnings": list(written.warnings),
        "created_at": record.created_at,
    }


class RecordsView(MemoryView):
    """The collection."""

    pagination_class = RecordPages

    @extend_schema(
        summary="List records",
        parameters=FILTER_PARAMETERS,
        responses=answers({200: RecordSerializer(many=True)}),
        operation_id="memory_list",
    )
    def get(self, request: Request) -> Response:
        """Return a page of records, newest first."""
        wanted = filters.parse(query_values(request), also=PAGING)
        rows: Any = Halves(queries.branches(self.principal, wanted))
        pages = RecordPages()
        page: Any = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(RecordSerializer(page, many=True).data)

    @extend_schema(
        summary="Write a record",
        request=DraftSerializer,
        responses=answers({201: WrittenAnswer, 200: WrittenAnswer}),
        operation_id="memory_write",
    )
    def post(self, request: Request) -> Response:
        """Write one record: 201 when it is new, 200 when it is there already."""
        draft = draft_of(parsed(DraftSerializer, request.data))
        written = write.remember(self.principal, draft)
        return Response(written_body(written), status=CREATED if written.created else EXISTING)


class RecordView(MemoryView):
    """One record; what is not theirs does not exist."""

    @extend_schema(
        summary="Get a record",
        responses=answers({200: RecordDetailSerializer}),
        operation_id="memory_get",
    )
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        """Return the record with tags, chunks, provenance and history."""
        return self._shown(memory_id)

    @extend_schema(
        summary="Amend a record",
        request=ChangesSerializer,
        responses=answers({200: RecordDetailSerializer}),
        operation_id="memory_amend",
    )
    def patch(self, request: Request, memory_id: uuid.UUID) -> Response:
        """Change a record; its old text is kept in the history."""
        held = queries.record(self.principal, memory_id).tag_names
        changes = changes_of(parsed(ChangesSerializer, request.data), held)
        write.amend(self.principal, memory_id, changes)
        return self._shown(memory_id)

    @extend_schema(
        summary="Delete a record", responses=answers({204: None}), operation_id="memory_delete"
    )
    def delete(self, request: Request, memory_id: uuid.UUID) -> Response:
        """Delete the record and everything made from it."""
        write.forget(self.principal, memory_id)
        return Response(status=204)

    def _shown(self, memory_id: uuid.UUID) -> Response:
        record = queries.record(self.principal, memory_id)
        return Response(RecordDetailSerializer(record).data)


class BulkView(MemoryView):
    """Many writes in one request."""

    @extend_schema(
        summary="Write up to 500 records",
        request=BulkSerializer,
        responses=answers({200: BulkAnswer}),
        operation_id="memory_bulk",
    )
    def post(self, request: Request) -> Response:
        """Write each item in order; a bad one is its own error and stops no other."""
        require_change(self.principal)
        items = parsed(BulkSerializer, request.data)["items"]
        if len(items) > write.BULK_LIMIT:
            raise TooLarge(
                f"items has {len(items)} entries; the limit is {write.BULK_LIMIT}.", field="items"
            )
        drafts = [_draft_or_error(item) for item in items]
        results = write.remember_many(self.principal, drafts)
        return Response({"results": [_result(result) for result in results]})


def _draft_or_error(item: Any) -> Draft | GoclawError:
    try:
        return draft_of(parsed(DraftSerializer, item))
    except GoclawError as error:
        return error
    except ValidationError as error:
        details: Any = error.get_full_details()
        field, reasons = next(iter(details.items()))
        return InvalidInput(f"{field}: {_first_message(reasons)}", field=str(field))


def _first_message(reasons: Any) -> str:
    """Return the first sentence in DRF's nested details."""
    while not (isinstance(reasons, dict) and isinstance(reasons.get("message"), str)):
        reasons = next(iter(reasons.values() if isinstance(reasons, dict) else reasons))
    return str(reasons["message"])


def _result(result: write.Written | GoclawError) -> dict[str, Any]:
    if isinstance(result, GoclawError):
        error = {"field": None, **result.as_dict()}
        return {"error": printable(error)}
    return {"status": CREATED if result.created else EXISTING, **written_body(result)}
