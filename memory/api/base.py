"""What every view of the API shares: the principal, strict input, cursor pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import IO, Any

from rest_framework.exceptions import NotFound, ParseError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from goclaw_site.errors import InvalidInput
from memory.access import Principal, principal_of
from memory.filters import parse_time

#: Parameters of a list that belong to paging and rendering, not to filters.
PAGING = ("cursor", "page_size", "format")
_LIST_FILTERS = ("scope", "scopes", "tag", "tags", "kind", "kinds")


class Utf8JsonParser(JSONParser):
    """JSON is UTF-8, whatever charset a header names (RFC 8259)."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value; raise ParseError also where the parser itself gives up."""
        try:
            return super().parse(
                stream, media_type, {**(parser_context or {}), "encoding": "utf-8"}
            )
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply.") from None


class MemoryView(APIView):
    """A view that parses, calls and responds."""

    parser_classes = [Utf8JsonParser]

    @property
    def principal(self) -> Principal:
        """Who asks."""
        return principal_of(self.request)


class RecordPages(CursorPagination):
    """Newest first; the cursor holds while records are written."""

    ordering = ("-updated_at", "-id")
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor of the request. Raise InvalidInput for one that was not given out."""
        try:
            cursor = super().decode_cursor(request)
            if cursor is None or cursor.position is None:
                return cursor
            moment = parse_time("cursor", cursor.position).astimezone(UTC)
            return cursor._replace(position=str(moment))  # type: ignore[arg-type]  # text, not int
        except (NotFound, InvalidInput, OverflowError):
            raise InvalidInput("cursor is not one that this server gave.", field="cursor") from None


class JobPages(RecordPages):
    """Jobs by when they were asked for."""

    ordering = ("-created_at", "-id")


def parsed(serializer: type[Serializer[Any]], body: Any) -> dict[str, Any]:
    """Return the validated body; an unknown field is an error, so that a typo loses nothing."""
    if not isinstance(body, Mapping):
        raise InvalidInput("The body must be a JSON object.")
    form = serializer(data=body)
    unknown = sorted(set(map(str, body)) - set(form.fields))
    if unknown:
        known = ", ".join(form.fields)
        raise InvalidInput(
            f"'{unknown[0][:40]}' is not a field; there are {known}.", field=unknown[0][:40]
        )
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def query_values(request: Request) -> dict[str, Any]:
    """Return the query parameters; list filters keep every value, others must stand once."""
    values: dict[str, Any] = {}
    for name, given in request.query_params.lists():
        if name in _LIST_FILTERS:
            values[name] = given
        elif len(given) > 1:
            raise InvalidInput(f"'{name[:40]}' is given {len(given)} times.", field=name[:40])
        else:
            values[name] = given[0]
    return values


def only_parameters(request: Request, known: Sequence[str] = ("format",)) -> None:
    """Raise InvalidInput for a query parameter that the view would ignore."""
    for name in request.query_params:
        if name not in known:
            words = ", ".join(sorted(known))
            raise InvalidInput(
                f"'{name[:40]}' is not a parameter; there are {words}.", field=name[:40]
            )
