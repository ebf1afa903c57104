"""The addresses of the wiki: the API, files and the pages."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("wiki.api.urls")),
    path("", include("wiki.browser.urls")),
]
