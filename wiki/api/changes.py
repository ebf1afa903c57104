"""What became of pages, over HTTP: history, diffs, restore, move, review, recent changes."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.answers import StartedAnswer, answers
from memory.api.base import (
    PAGING,
    JobPages,
    MemoryView,
    RecordPages,
    only_parameters,
    parsed,
    query_values,
)
from wiki import distill, pages, queries, review
from wiki.api.answers import diff_body, page_body, saved_body
from wiki.api.pages import required, whole_number
from wiki.api.serializers import (
    DecidedAnswer,
    DiffAnswer,
    DistillSerializer,
    HeadSerializer,
    MoveSerializer,
    PageAnswer,
    RestoreSerializer,
    ReviewSerializer,
    SaveRowSerializer,
)

ACCEPTED = 202


class ChangePages(JobPages):
    """Saves, the newest first."""


class QueuePages(RecordPages):
    """What waits longest comes first."""

    ordering = ("updated_at", "id")


class HistoryView(MemoryView):
    """The revisions of one page."""

    pagination_class = ChangePages

    @extend_schema(
        summary="List the revisions of a page",
        parameters=[OpenApiParameter("slug", str, required=True)],
        responses=answers({200: SaveRowSerializer(many=True)}),
        operation_id="wiki_history",
    )
    def get(self, request: Request) -> Response:
        """Return a page of revisions, the newest first; those of a deleted page too."""
        only_parameters(request, (*PAGING, "slug"))
        head = queries.page(self.principal, required(query_values(request), "slug"))
        turner = ChangePages()
        page = turner.paginate_queryset(queries.history(self.principal, head), request, view=self)
        return turner.get_paginated_response(SaveRowSerializer(page, many=True).data)


class RecentView(MemoryView):
    """The saves of all pages."""

    pagination_class = ChangePages

    @extend_schema(
        summary="List recent changes",
        responses=answers({200: SaveRowSerializer(many=True)}),
        operation_id="wiki_recent",
    )
    def get(self, request: Request) -> Response:
        """Return a page of saves, the newest first."""
        only_parameters(request, PAGING)
        turner = ChangePages()
        page = turner.paginate_queryset(queries.recent(self.principal), request, view=self)
        return turner.get_paginated_response(SaveRowSerializer(page, many=True).data)


class DiffView(MemoryView):
    """Two revisions of one page side by side."""

    @extend_schema(
        summary="Compare two revisions",
        parameters=[
            OpenApiParameter("slug", str, required=True),
            OpenApiParameter("from", int, description="The one before `to` unless set; 0: empty."),
            OpenApiParameter("to", int, description="The newest unless set."),
        ],
        responses=answers({200: DiffAnswer}),
        operation_id="wiki_diff",
    )
    def get(self, request: Request) -> Response:
        """Return what changed, word by word within lines, and as a unified diff."""
        only_parameters(request, ("slug", "from", "to", "format"))
        given = query_values(request)
        head = queries.page(self.principal, required(given, "slug"))
        new = queries.revision(self.principal, head, whole_number(given, "to"))
        old = queries.earlier(self.principal, head, new, whole_number(given, "from"))
        return Response(diff_body(head.slug, old, new))


class RestoreView(MemoryView):
    """Brings an old text back."""

    @extend_schema(
        summary="Restore a revision",
        request=RestoreSerializer,
        responses=answers({200: PageAnswer}),
        operation_id="wiki_restore",
    )
    def post(self, request: Request) -> Response:
        """Write an old text as a new revision, of a deleted page too."""
        given = parsed(RestoreSerializer, request.data)
        return Response(saved_body(self.principal, pages.restore(self.principal, **given)))


class MoveView(MemoryView):
    """Gives a page another name."""

    @extend_schema(
        summary="Move a page",
        request=MoveSerializer,
        responses=answers({200: PageAnswer}),
        operation_id="wiki_move",
    )
    def post(self, request: Request) -> Response:
        """Move the page with its history; the old name leads to the new one."""
        page = pages.move(self.principal, **parsed(MoveSerializer, request.data))
        return Response(page_body(self.principal, page, queries.revision(self.principal, page)))


class ReviewView(MemoryView):
    """The queue of what agents wrote."""

    pagination_class = QueuePages

    @extend_schema(
        summary="List what waits for review",
        responses=answers({200: HeadSerializer(many=True)}),
        operation_id="wiki_review_queue",
    )
    def get(self, request: Request) -> Response:
        """Return a page of pages with agents' edits that wait, the longest waiting first."""
        only_parameters(request, PAGING)
        turner = QueuePages()
        rows = queries.review_queue(self.principal).prefetch_related("tags")
        page = turner.paginate_queryset(rows, request, view=self)
        return turner.get_paginated_response(HeadSerializer(page, many=True).data)

    @extend_schema(
        summary="Accept or reject an agent's edit",
        request=ReviewSerializer,
        responses=answers({200: DecidedAnswer}),
        operation_id="wiki_review",
    )
    def post(self, request: Request) -> Response:
        """Decide about a revision and the agents' revisions before it."""
        decided = review.decide(self.principal, **parsed(ReviewSerializer, request.data))
        return Response(
            {
                "slug": decided.page.slug,
                "settled": decided.settled,
                "revision": decided.revision,
                "deleted": decided.page.deleted,
            }
        )


class DistillView(MemoryView):
    """Learned facts into pages."""

    @extend_schema(
        summary="Distill learned facts into pages",
        request=DistillSerializer,
        responses=answers({202: StartedAnswer}),
        operation_id="wiki_distill",
    )
    def post(self, request: Request) -> Response:
        """Start the job; 409 with the reason where no model is set."""
        given = parsed(DistillSerializer, request.data)
        job = distill.start(self.principal, dry=given["dry_run"])
        return Response({"job": str(job.pk)}, status=ACCEPTED)
