"""The addresses of the wiki's pages. Names of pages stand below `p/`, so none meets a route."""

from __future__ import annotations

from django.urls import path

from wiki.browser import changing, editing, filing, listing, reading, reviewing

urlpatterns = [
    path("wiki/", listing.home, name="wiki"),
    path("wiki/new/", editing.new, name="wiki-new"),
    path("wiki/preview/", editing.preview, name="wiki-preview"),
    path("wiki/recent/", listing.recent, name="wiki-recent"),
    path("wiki/search/", listing.find, name="wiki-search"),
    path("wiki/review/", reviewing.queue, name="wiki-review"),
    path("wiki/review/decide/", reviewing.decide, name="wiki-decide"),
    path("wiki/distill/", changing.distill_facts, name="wiki-distill"),
    path("wiki/restore/", changing.restore, name="wiki-restore"),
    path("wiki/undelete/", changing.undelete, name="wiki-undelete"),
    path("wiki/move/", changing.move, name="wiki-move"),
    path("wiki/delete/", changing.delete, name="wiki-delete"),
    path("wiki/files/", filing.upload, name="wiki-files"),
    path("wiki/files/<uuid:attachment_id>/delete/", filing.remove, name="wiki-file-delete"),
    path("wiki/p/<path:slug>", reading.wiki_page, name="wiki-page"),
]
