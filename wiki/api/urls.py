"""The addresses of the wiki's API; each answers with and without its slash."""

from __future__ import annotations

from django.urls import re_path

from memory.api.urls import ID
from wiki.api.changes import (
    DiffView,
    DistillView,
    HistoryView,
    MoveView,
    RecentView,
    RestoreView,
    ReviewView,
)
from wiki.api.feed import FeedView
from wiki.api.files import AttachmentsView, AttachmentView
from wiki.api.pages import PagesView, PageView, TreeView, WikiSearchView
from wiki.media import MediaView

_WIKI = r"^api/memory/wiki"

urlpatterns = [
    re_path(rf"{_WIKI}/?$", PagesView.as_view(), name="api-wiki"),
    re_path(rf"{_WIKI}/pages/(?P<slug>[\s\S]+?)/?\Z", PageView.as_view(), name="api-wiki-page"),
    re_path(rf"{_WIKI}/tree/?$", TreeView.as_view(), name="api-wiki-tree"),
    re_path(rf"{_WIKI}/history/?$", HistoryView.as_view(), name="api-wiki-history"),
    re_path(rf"{_WIKI}/diff/?$", DiffView.as_view(), name="api-wiki-diff"),
    re_path(rf"{_WIKI}/recent/?$", RecentView.as_view(), name="api-wiki-recent"),
    re_path(rf"{_WIKI}/feed/?$", FeedView.as_view(), name="api-wiki-feed"),
    re_path(rf"{_WIKI}/restore/?$", RestoreView.as_view(), name="api-wiki-restore"),
    re_path(rf"{_WIKI}/move/?$", MoveView.as_view(), name="api-wiki-move"),
    re_path(rf"{_WIKI}/review/?$", ReviewView.as_view(), name="api-wiki-review"),
    re_path(rf"{_WIKI}/distill/?$", DistillView.as_view(), name="api-wiki-distill"),
    re_path(rf"{_WIKI}/search/?$", WikiSearchView.as_view(), name="api-wiki-search"),
    re_path(rf"{_WIKI}/attachments/?$", AttachmentsView.as_view(), name="api-wiki-files"),
    re_path(
        rf"{_WIKI}/attachments/(?P<attachment_id>{ID})/?$",
        AttachmentView.as_view(),
        name="api-wiki-file",
    ),
    re_path(rf"^media/(?P<attachment_id>{ID})/?$", MediaView.as_view(), name="media"),
]
