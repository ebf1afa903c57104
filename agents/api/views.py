"""The views of agents, tools and hints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from agents import roster, tools
from agents.api.shapes import (
    AdviceAnswer,
    AgentSerializer,
    FailureSerializer,
    NewAgentSerializer,
    ToolsAnswer,
)
from goclaw_site.errors import InvalidInput
from memory.api.answers import answers
from memory.api.base import PAGING, MemoryView, only_parameters, parsed
from memory.drafts import MAX_AGENT, check_line

CREATED = 201
_ENVELOPE = "arguments"


class AgentPages(CursorPagination):
    """By slug."""

    ordering = ("slug",)
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor of the request. Raise InvalidInput for one that was not given out."""
        try:
            cursor = super().decode_cursor(request)
            if cursor is not None and cursor.position is not None:
                check_line("cursor", str(cursor.position), MAX_AGENT)
        except (NotFound, InvalidInput):
            raise InvalidInput("cursor is not one that this server gave.", field="cursor") from None
        return cursor


class AgentsView(MemoryView):
    """The collection."""

    pagination_class = AgentPages

    @extend_schema(
        summary="List agents",
        operation_id="agents_list",
        responses=answers({200: AgentSerializer(many=True)}),
    )
    def get(self, request: Request) -> Response:
        """Return the agents that work here."""
        only_parameters(request, PAGING)
        pages = AgentPages()
        rows = pages.paginate_queryset(roster.agents(), request, view=self)
        return pages.get_paginated_response(AgentSerializer(rows or [], many=True).data)

    @extend_schema(
        summary="Add an agent",
        operation_id="agents_add",
        request=NewAgentSerializer,
        responses=answers({201: AgentSerializer}),
    )
    def post(self, request: Request) -> Response:
        """Add an agent; for administrators."""
        given = parsed(NewAgentSerializer, request.data)
        added = roster.add(self.principal, given["slug"], given["name"])
        return Response(AgentSerializer(added).data, status=CREATED)


class AgentView(MemoryView):
    """One agent."""

    @extend_schema(
        summary="Get an agent",
        operation_id="agents_get",
        responses=answers({200: AgentSerializer}),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return one agent."""
        only_parameters(request)
        return Response(AgentSerializer(roster.agent(slug)).data)


class ToolsView(MemoryView):
    """What an agent can call."""

    @extend_schema(
        summary="List tools", operation_id="agents_tools", responses=answers({200: ToolsAnswer})
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the tools with the schemas of their arguments."""
        only_parameters(request)
        roster.agent(slug)
        shown = [tool.as_dict() for tool in tools.tools()]
        return Response({"next": None, "previous": None, "results": shown})


class ToolView(MemoryView):
    """One tool."""

    @extend_schema(
        summary="Call a tool",
        operation_id="agents_call",
        request=OpenApiTypes.OBJECT,
        responses=answers({200: OpenApiTypes.OBJECT}),
    )
    def post(self, request: Request, slug: str, name: str) -> Response:
        """Call it with the body as its arguments, or with `{"arguments": {…}}`."""
        agent = roster.agent(slug)
        principal = roster.working_as(self.principal, agent)
        return Response(tools.call(principal, name, _arguments(request.data)))


class HintsView(MemoryView):
    """What to do about a failing tool."""

    @extend_schema(
        summary="Ask about a failing tool call",
        operation_id="agents_hint",
        request=FailureSerializer,
        responses=answers({200: AdviceAnswer}),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Return whether another attempt can succeed, and how. Nothing is stored."""
        roster.agent(slug)
        given = parsed(FailureSerializer, request.data)
        return Response(tools.call(self.principal, "report_tool_error", given))


def _arguments(body: Any) -> Any:
    if not isinstance(body, Mapping):
        raise InvalidInput("The body must be a JSON object.")
    return body[_ENVELOPE] if set(body) == {_ENVELOPE} else dict(body)
