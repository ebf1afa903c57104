"""The addresses of the pages."""

from __future__ import annotations

from django.urls import path

from memory.pages import changing, views

urlpatterns = [
    path("", views.browse, name="memory"),
    path("memory/add/", changing.add, name="memory-add"),
    path("memory/bulk/", changing.bulk, name="memory-bulk"),
    path("memory/<uuid:memory_id>/", views.record, name="memory-record"),
    path("memory/<uuid:memory_id>/amend/", changing.amend, name="memory-amend"),
    path("memory/<uuid:memory_id>/delete/", changing.delete, name="memory-delete"),
    path("memory/<uuid:memory_id>/undo/<int:revision>/", changing.undo, name="memory-undo"),
    path("me/", views.mine, name="memory-own"),
    path("me/export/", views.export_own, name="memory-own-export"),
    path("me/delete/", changing.delete_own, name="memory-own-delete"),
    path("components/", views.components, name="components"),
]
