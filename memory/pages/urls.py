"""The addresses of the pages."""

from __future__ import annotations

from django.urls import path

from memory.pages import backups, changing, deciding, models, views

urlpatterns = [
    path("", views.browse, name="memory"),
    path("memory/add/", changing.add, name="memory-add"),
    path("memory/bulk/", changing.bulk, name="memory-bulk"),
    path("memory/<uuid:memory_id>/", views.record, name="memory-record"),
    path("memory/<uuid:memory_id>/amend/", changing.amend, name="memory-amend"),
    path("memory/<uuid:memory_id>/delete/", changing.delete, name="memory-delete"),
    path("memory/<uuid:memory_id>/undo/<int:revision>/", changing.undo, name="memory-undo"),
    path("memory/<uuid:memory_id>/restore/", deciding.undo, name="revisions-undo"),
    path("memory/<uuid:memory_id>/wrong/", deciding.wrong, name="changes-wrong"),
    path("revisions/", deciding.revisions, name="revisions"),
    path("revisions/<uuid:run_id>/", deciding.run, name="revisions-run"),
    path("revisions/<uuid:run_id>/undo/", deciding.undo_run, name="revisions-undo-run"),
    path("changes/", deciding.feed, name="changes"),
    path("me/", views.mine, name="memory-own"),
    path("me/export/", views.export_own, name="memory-own-export"),
    path("me/delete/", changing.delete_own, name="memory-own-delete"),
    path("models/", models.overview, name="models"),
    path("models/<slug:part>/try/", models.attempt, name="models-try"),
    path("models/<slug:role>/clear/", models.clear, name="models-clear"),
    path("models/<slug:role>/", models.edit, name="models-edit"),
    path("backups/", backups.everything, name="backups"),
    path("backups/now/", backups.now, name="backups-now"),
    path("backups/cancel/", backups.cancel, name="backups-cancel"),
    path("components/", views.components, name="components"),
]
