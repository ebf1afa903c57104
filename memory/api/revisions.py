"""Decisions over HTTP: list them, take them back, start the judge over what is stored."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from goclaw_site.errors import InvalidInput
from memory import jobs, queries
from memory.access import Principal, require_administrator
from memory.api.answers import StartedAnswer, answers
from memory.api.base import PAGING, MemoryView, RecordPages, only_parameters, parsed, query_values
from memory.api.serializers import RevisionSerializer, Text
from memory.beliefs import revising, revisions
from memory.beliefs.undoing import MAX_REASON
from memory.filters import parse_flag
from memory.models import MemoryRevision
from memory.vocabulary import VIAS

ACCEPTED = 202
FILTERS = ("run", "record", "via", "undone")


class RevisionPages(RecordPages):
    """Newest first."""

    ordering = ("-created_at", "-id")


class UndoSerializer(serializers.Serializer[Any]):
    """What to take back: the newest decision about a record, or all of a run."""

    memory_id = serializers.UUIDField(required=False)
    run_id = serializers.UUIDField(required=False)
    reason = Text(default="", help_text=f"Why, up to {MAX_REASON:,} characters.")


class DoubleAnswer(serializers.Serializer[Any]):
    """A record that stays retired, because the same text is live in another."""

    id = serializers.UUIDField()
    live = serializers.UUIDField()


class UndoneAnswer(serializers.Serializer[Any]):
    """What came back, as ids of records."""

    detail = serializers.CharField(help_text="The same in a sentence.")
    restored = serializers.ListField(child=serializers.UUIDField(), help_text="Live again.")
    doubles = DoubleAnswer(many=True)
    retired = serializers.ListField(
        child=serializers.UUIDField(), help_text="Made by a merge, and gone with it."
    )
    flagged = serializers.ListField(
        child=serializers.UUIDField(), help_text="Merged, amended since, and kept."
    )
    amended = serializers.ListField(child=serializers.UUIDField())
    already = serializers.ListField(
        child=serializers.UUIDField(), help_text="Undone before: nothing was done."
    )
    gone = serializers.ListField(child=serializers.UUIDField(), help_text="Deleted or expired.")


def undone_body(done: revisions.Undone) -> dict[str, Any]:
    """Return the answer to an undo."""
    return {
        "detail": done.sentence,
        "restored": [str(pk) for pk in done.restored],
        "doubles": [{"id": str(pk), "live": str(twin)} for pk, twin in done.doubles],
        **{
            name: [str(pk) for pk in getattr(done, name)]
            for name in ("retired", "flagged", "amended", "already", "gone")
        },
    }


def decisions(principal: Principal, given: dict[str, Any]) -> QuerySet[MemoryRevision]:
    """Return the decisions that a caller may see, newest first, narrowed. Raise InvalidInput."""
    rows = queries.decisions(principal).order_by("-created_at", "-id")
    if (run := given.get("run")) is not None:
        rows = rows.filter(run_id=_uuid("run", run))
    if (record := given.get("record")) is not None:
        pk = _uuid("record", record)
        rows = rows.filter(Q(old_id=pk) | Q(new_id=pk))
    if (via := given.get("via")) is not None:
        if via not in VIAS:
            raise InvalidInput(f"via is one of {', '.join(VIAS)}.", field="via")
        rows = rows.filter(via=via)
    if (undone := given.get("undone")) is not None:
        rows = rows.filter(undone_at__isnull=not parse_flag("undone", undone))
    return rows


def _uuid(name: str, text: Any) -> uuid.UUID:
    try:
        return uuid.UUID(str(text))
    except ValueError:
        raise InvalidInput(f"{name} is not an id.", field=name) from None


class RevisionsView(MemoryView):
    """Decisions, newest first."""

    pagination_class = RevisionPages

    @extend_schema(
        summary="List decisions about records",
        parameters=[
            OpenApiParameter("run", str),
            OpenApiParameter("record", str),
            OpenApiParameter("via", str, enum=VIAS),
            OpenApiParameter("undone", bool),
        ],
        responses=answers({200: RevisionSerializer(many=True)}),
        operation_id="revision_list",
    )
    def get(self, request: Request) -> Response:
        """Return a page of decisions."""
        only_parameters(request, (*PAGING, *FILTERS))
        rows = decisions(self.principal, query_values(request))
        pages = RevisionPages()
        page = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(RevisionSerializer(page, many=True).data)


class ReviseSerializer(serializers.Serializer[Any]):
    """How to go over what is stored."""

    dry_run = serializers.BooleanField(
        default=False, help_text="Only list the pairs, in the job's result; no model is asked."
    )


class ReviseView(MemoryView):
    """Starts the job."""

    @extend_schema(
        summary="Revise stored beliefs",
        request=ReviseSerializer,
        responses=answers({202: StartedAnswer}),
        operation_id="memory_revise",
    )
    def post(self, request: Request) -> Response:
        """Start the job and return its id, which is the id of its run too."""
        principal = require_administrator(self.principal)
        params = parsed(ReviseSerializer, request.data)
        job = jobs.start_for(principal, revising.KIND, params)
        return Response({"job": str(job.pk)}, status=ACCEPTED)


class UndoView(MemoryView):
    """Takes decisions back."""

    @extend_schema(
        summary="Take a decision back",
        request=UndoSerializer,
        responses=answers({200: UndoneAnswer}),
        operation_id="revision_undo",
    )
    def post(self, request: Request) -> Response:
        """Undo by record or by run; undoing twice changes nothing and says so."""
        given = parsed(UndoSerializer, request.data)
        memory_id, run_id = given.get("memory_id"), given.get("run_id")
        if (memory_id is None) == (run_id is None):
            raise InvalidInput("Give either memory_id or run_id.", field="memory_id")
        if memory_id is not None:
            done = revisions.undo_record(self.principal, memory_id, given["reason"])
        else:
            done = revisions.undo_run(self.principal, given["run_id"], given["reason"])
        return Response(undone_body(done))
