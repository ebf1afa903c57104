"""Search over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from goclaw_site.errors import InvalidInput
from memory import filters
from memory.api.answers import SearchAnswer, answers
from memory.api.base import MemoryView, parsed, query_values
from memory.api.records import FILTER_PARAMETERS
from memory.api.serializers import SearchSerializer
from memory.search import SearchRequest, search

_OWN = ("query", "q", "max_results", "min_score", "format")


class SearchView(MemoryView):
    """POST a body, or GET with `q`."""

    @extend_schema(
        summary="Search",
        operation_id="memory_search",
        request=SearchSerializer,
        responses=answers({200: SearchAnswer}),
    )
    def post(self, request: Request) -> Response:
        """Return what answers the query among what the caller may see."""
        return self._answer(parsed(SearchSerializer, request.data))

    @extend_schema(
        summary="Search by a link",
        operation_id="memory_search_get",
        parameters=[
            OpenApiParameter("q", str, required=True),
            OpenApiParameter("max_results", int),
            OpenApiParameter("min_score", float),
            *FILTER_PARAMETERS,
        ],
        responses=answers({200: SearchAnswer}),
    )
    def get(self, request: Request) -> Response:
        """The same with query parameters."""
        values = query_values(request)
        if "q" not in values and "query" not in values:
            raise InvalidInput("q is missing: it holds the query.", field="q")
        numbers = {"max_results": int, "min_score": float}
        for name, kind in numbers.items():
            if name in values:
                values[name] = _number(name, values[name], kind)
        return self._answer(values)

    def _answer(self, values: dict[str, Any]) -> Response:
        request = SearchRequest(
            query=str(values.get("query", values.get("q", ""))),
            filters=filters.parse(values, also=_OWN),
            max_results=values.get("max_results"),
            min_score=values.get("min_score"),
        )
        return Response(search(self.principal, request).as_dict())


def _number(name: str, value: str, kind: type[int] | type[float]) -> float:
    try:
        return kind(value)
    except ValueError:
        raise InvalidInput(f"{name} is not a number.", field=name) from None
