"""The addresses of the API; each answers with and without its slash."""

from __future__ import annotations

from django.urls import re_path

from memory.api.catalog import CatalogExportView, CatalogImportView
from memory.api.operations import (
    CancelView,
    ConsolidateView,
    DedupeView,
    JobsView,
    JobView,
    ReindexView,
    StatsView,
)
from memory.api.records import BulkView, RecordsView, RecordView
from memory.api.revisions import ReviseView, RevisionsView, UndoView
from memory.api.search import SearchView
from memory.api.trail import AuditView

ID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

urlpatterns = [
    re_path(r"^api/memory/?$", RecordsView.as_view(), name="api-records"),
    re_path(r"^api/memory/bulk/?$", BulkView.as_view(), name="api-bulk"),
    re_path(r"^api/memory/search/?$", SearchView.as_view(), name="api-search"),
    re_path(r"^api/memory/export/?$", CatalogExportView.as_view(), name="api-export"),
    re_path(r"^api/memory/import/?$", CatalogImportView.as_view(), name="api-import"),
    re_path(r"^api/memory/stats/?$", StatsView.as_view(), name="api-stats"),
    re_path(r"^api/memory/reindex/?$", ReindexView.as_view(), name="api-reindex"),
    re_path(r"^api/memory/revise/?$", ReviseView.as_view(), name="api-revise"),
    re_path(r"^api/memory/revisions/?$", RevisionsView.as_view(), name="api-revisions"),
    re_path(r"^api/memory/revisions/undo/?$", UndoView.as_view(), name="api-revisions-undo"),
    re_path(rf"^api/memory/(?P<memory_id>{ID})/?$", RecordView.as_view(), name="api-record"),
    re_path(r"^api/memory/consolidate/?$", ConsolidateView.as_view(), name="api-consolidate"),
    re_path(r"^api/memory/dedupe/?$", DedupeView.as_view(), name="api-dedupe"),
    re_path(r"^api/audit/?$", AuditView.as_view(), name="api-audit"),
    re_path(r"^api/jobs/?$", JobsView.as_view(), name="api-jobs"),
    re_path(rf"^api/jobs/(?P<job_id>{ID})/?$", JobView.as_view(), name="api-job"),
    re_path(rf"^api/jobs/(?P<job_id>{ID})/cancel/?$", CancelView.as_view(), name="api-job-cancel"),
]
