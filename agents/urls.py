"""The addresses of the agents app: the API and the pages."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("agents.api.urls")),
    path("", include("agents.pages.urls")),
]
