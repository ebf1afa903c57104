"""The addresses of the API; each answers with and without its slash."""

from __future__ import annotations

from django.urls import re_path

from agents.api.views import AgentsView, AgentView, HintsView, ToolsView, ToolView

_SLUG = r"^api/agents/(?P<slug>[\w-]{1,64})"

urlpatterns = [
    re_path(r"^api/agents/?$", AgentsView.as_view(), name="api-agents"),
    re_path(rf"{_SLUG}/?$", AgentView.as_view(), name="api-agent"),
    re_path(rf"{_SLUG}/tools/?$", ToolsView.as_view(), name="api-agent-tools"),
    re_path(
        rf"{_SLUG}/tools/(?P<name>[\w-]{{1,100}})/?$", ToolView.as_view(), name="api-agent-tool"
    ),
    re_path(rf"{_SLUG}/hints/?$", HintsView.as_view(), name="api-agent-hints"),
]
