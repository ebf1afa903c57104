"""Stats, reindex and jobs over HTTP."""

from __future__ import annotations

import uuid

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from goclaw_site.errors import NotFound
from memory import consolidation, deduping, jobs
from memory.access import Principal, require_administrator
from memory.api.answers import StartedAnswer, StatsAnswer, answers
from memory.api.base import (
    PAGING,
    JobPages,
    MemoryView,
    only_parameters,
    parsed,
)
from memory.api.serializers import (
    ConsolidateSerializer,
    DedupeSerializer,
    JobSerializer,
    ReindexSerializer,
)
from memory.models import Job
from memory.stats import stats

ACCEPTED = 202


class StatsView(MemoryView):
    """Counts."""

    @extend_schema(
        summary="Counts and index state",
        responses=answers({200: StatsAnswer}),
        operation_id="memory_stats",
    )
    def get(self, request: Request) -> Response:
        """Return counts over what the caller may see."""
        only_parameters(request)
        return Response(stats(self.principal))


class ReindexView(MemoryView):
    """Starts the job."""

    @extend_schema(
        summary="Index every record anew",
        request=ReindexSerializer,
        responses=answers({202: StartedAnswer}),
        operation_id="memory_reindex",
    )
    def post(self, request: Request) -> Response:
        """Start the job and return its id; an equal unfinished one is given back."""
        principal = require_administrator(self.principal)
        params = parsed(ReindexSerializer, request.data)
        job = jobs.start_for(principal, "reindex", params)
        return Response({"job": str(job.pk)}, status=ACCEPTED)


class ConsolidateView(MemoryView):
    """Starts the job."""

    @extend_schema(
        summary="Make one record of learned notes that say the same",
        request=ConsolidateSerializer,
        responses=answers({202: StartedAnswer}),
        operation_id="memory_consolidate",
    )
    def post(self, request: Request) -> Response:
        """Start the job and return its id; the result of a dry run names the pairs by id."""
        principal = require_administrator(self.principal)
        wanted = consolidation.params(**parsed(ConsolidateSerializer, request.data))
        job = jobs.start_for(principal, consolidation.KIND, wanted)
        return Response({"job": str(job.pk)}, status=ACCEPTED)


class DedupeView(MemoryView):
    """Starts the job."""

    @extend_schema(
        summary="Retire near-duplicate notes and leave repeated chunks out of search",
        request=DedupeSerializer,
        responses=answers({202: StartedAnswer}),
        operation_id="memory_dedupe",
    )
    def post(self, request: Request) -> Response:
        """Start the job and return its id; the result of a dry run names the pairs by id."""
        principal = require_administrator(self.principal)
        wanted = deduping.params(**parsed(DedupeSerializer, request.data))
        job = jobs.start_for(principal, "dedupe", wanted)
        return Response({"job": str(job.pk)}, status=ACCEPTED)


def visible_jobs(principal: Principal) -> QuerySet[Job]:
    """Return all jobs for an administrator, for others those they started."""
    if principal.is_admin:
        return Job.objects.all()
    return Job.objects.filter(actor=principal.actor)


class JobsView(MemoryView):
    """Jobs, newest first."""

    pagination_class = JobPages

    @extend_schema(
        summary="List jobs",
        responses=answers({200: JobSerializer(many=True)}),
        operation_id="job_list",
    )
    def get(self, request: Request) -> Response:
        """Return a page of jobs."""
        only_parameters(request, PAGING)
        pages = JobPages()
        page = pages.paginate_queryset(visible_jobs(self.principal), request, view=self)
        return pages.get_paginated_response(JobSerializer(page, many=True).data)


class JobView(MemoryView):
    """One job."""

    @extend_schema(
        summary="Get a job", responses=answers({200: JobSerializer}), operation_id="job_get"
    )
    def get(self, request: Request, job_id: uuid.UUID) -> Response:
        """Return its state and progress."""
        job = visible_jobs(self.principal).filter(pk=job_id).first()
        if job is None:
            raise NotFound("No such job.")
        return Response(JobSerializer(job).data)


class CancelView(MemoryView):
    """Stops a job."""

    @extend_schema(
        summary="Cancel a job",
        request=None,
        responses=answers({200: JobSerializer}),
        operation_id="job_cancel",
    )
    def post(self, request: Request, job_id: uuid.UUID) -> Response:
        """Ask the job to stop before its next batch."""
        return Response(JobSerializer(jobs.cancel_for(self.principal, job_id)).data)
