"""The addresses of the memory app: the API and the pages."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("memory.api.urls")),
    path("", include("memory.pages.urls")),
]
