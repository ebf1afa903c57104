"""Pages over HTTP: list, read, save, delete, search, the tree."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from goclaw_site.errors import InvalidInput
from memory.api.answers import answers
from memory.api.base import (
    PAGING,
    MemoryView,
    RecordPages,
    only_parameters,
    parsed,
    query_values,
)
from wiki import pages, queries, slugs
from wiki.api.answers import branch_body, read_page, saved_body
from wiki.api.serializers import (
    ConflictAnswer,
    CreateSerializer,
    HeadSerializer,
    PageAnswer,
    SaveSerializer,
    TreeAnswer,
    WikiSearchAnswer,
)
from wiki.edits import Edit, check_tags

FILTERS = ("prefix", "q", "tag", "tags", "review")
MAX_RESULTS = 50
DEFAULT_RESULTS = 10
_SAVED = answers({200: PageAnswer, 201: PageAnswer, 409: ConflictAnswer})
_TRUTHS = {"": False, "0": False, "false": False, "1": True, "true": True}


def edit_of(values: dict[str, Any]) -> Edit:
    """Return the edit of validated values."""
    return Edit(**values | {"tags": tuple(values.get("tags", ()))})


def whole_number(values: dict[str, Any], name: str) -> int | None:
    """Return a query parameter as a number. Raise InvalidInput."""
    given = values.get(name)
    if given is None:
        return None
    if not (str(given).isascii() and str(given).isdigit() and len(str(given)) < 10):
        raise InvalidInput(f"{name} is not a whole number.", field=name)
    return int(given)


def required(values: dict[str, Any], name: str) -> str:
    """Return a query parameter that must be there. Raise InvalidInput."""
    if not values.get(name):
        raise InvalidInput(f"{name} is missing.", field=name)
    return str(values[name])


class PagesView(MemoryView):
    """The collection."""

    pagination_class = RecordPages

    @extend_schema(
        summary="List pages",
        parameters=[OpenApiParameter(name, str) for name in FILTERS[:4]]
        + [OpenApiParameter("review", bool, description="Only pages that wait for a person.")],
        responses=answers({200: HeadSerializer(many=True)}),
        operation_id="wiki_list",
    )
    def get(self, request: Request) -> Response:
        """Return a page of pages, the newest change first."""
        only_parameters(request, (*PAGING, *FILTERS))
        given = query_values(request)
        waiting = _truth("review", given.get("review", ""))
        rows = queries.pages(
            self.principal,
            prefix=given.get("prefix", ""),
            tags=_wanted_tags(given),
            waiting=waiting,
        )
        if words := given.get("q"):
            rows = rows.filter(Q(slug__contains=slugs.fold(words)) | Q(title__icontains=words))
        turner = RecordPages()
        page = turner.paginate_queryset(rows, request, view=self)
        return turner.get_paginated_response(HeadSerializer(page, many=True).data)

    @extend_schema(
        summary="Create a page",
        request=CreateSerializer,
        responses=_SAVED,
        operation_id="wiki_create",
    )
    def post(self, request: Request) -> Response:
        """Create a page; 409 where its slug is taken. Without a slug it gets a free one."""
        values = parsed(CreateSerializer, request.data)
        slug = values.pop("slug")
        edit = edit_of(values)
        if slug:
            saved = pages.save(self.principal, slug, edit)
        else:
            saved = pages.create(self.principal, edit)
        return saved_response(self, saved)


def saved_response(view: MemoryView, saved: pages.Saved) -> Response:
    """Return 201 for a page that is new, else 200."""
    status = 201 if saved.outcome == "created" else 200
    return Response(saved_body(view.principal, saved), status=status)


class PageView(MemoryView):
    """One page."""

    @extend_schema(
        summary="Read a page",
        parameters=[OpenApiParameter("revision", int)],
        responses=answers({200: PageAnswer}),
        operation_id="wiki_get",
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the page, or an old revision of it. A name that moved gives the page it became."""
        only_parameters(request, ("revision", "format"))
        number = whole_number(query_values(request), "revision")
        return Response(read_page(self.principal, slug, number))

    @extend_schema(
        summary="Save a page", request=SaveSerializer, responses=_SAVED, operation_id="wiki_save"
    )
    def put(self, request: Request, slug: str) -> Response:
        """Save the page: 201 new, 200 saved or unchanged, 409 with all three texts."""
        edit = edit_of(parsed(SaveSerializer, request.data))
        return saved_response(self, pages.save(self.principal, slug, edit))

    @extend_schema(
        summary="Delete a page", responses=answers({204: None}), operation_id="wiki_delete"
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Delete the page; its history stays, and restoring an old revision brings it back."""
        pages.delete(self.principal, slug)
        return Response(status=204)


class WikiSearchView(MemoryView):
    """Search in pages alone."""

    @extend_schema(
        summary="Search pages",
        parameters=[
            OpenApiParameter("q", str, required=True),
            OpenApiParameter("tag", str),
            OpenApiParameter("max_results", int),
        ],
        responses=answers({200: WikiSearchAnswer}),
        operation_id="wiki_search",
    )
    def get(self, request: Request) -> Response:
        """Return the pages that answer the query, with the place where they do."""
        only_parameters(request, ("q", "tag", "tags", "max_results", "format"))
        given = query_values(request)
        if "q" not in given:
            raise InvalidInput("q is missing: it holds the query.", field="q")
        limit = whole_number(given, "max_results")
        if limit is not None and not 1 <= limit <= MAX_RESULTS:
            raise InvalidInput(f"max_results must be 1 to {MAX_RESULTS}.", field="max_results")
        return Response(
            queries.search(
                self.principal,
                given["q"],
                limit=DEFAULT_RESULTS if limit is None else limit,
                tags=_wanted_tags(given),
            ).as_dict()
        )


class TreeView(MemoryView):
    """All pages by their names."""

    @extend_schema(
        summary="Get the tree of pages",
        parameters=[OpenApiParameter("below", str)],
        responses=answers({200: TreeAnswer(many=True)}),
        operation_id="wiki_tree",
    )
    def get(self, request: Request) -> Response:
        """Return the places at the top, or those below a slug, each with what lies below."""
        only_parameters(request, ("below", "format"))
        branches = queries.tree(self.principal, query_values(request).get("below", ""))
        return Response([branch_body(branch) for branch in branches])


def _wanted_tags(given: dict[str, Any]) -> tuple[str, ...]:
    """Both spellings of the filter are taken; a page needs every tag."""
    return check_tags((*given.get("tag", ()), *given.get("tags", ())))


def _truth(name: str, text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise InvalidInput(f"{name} must be true or false.", field=name)
    return _TRUTHS[text.lower()]
