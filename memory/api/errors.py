"""The one place where failures become answers of the API."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response
from rest_framework.views import exception_handler

from goclaw_site.errors import GoclawError, Throttled


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Render our own errors in DRF's shape, and give each of DRF's a code."""
    if isinstance(error, GoclawError):
        return _ours(error)
    if isinstance(error, PermissionDenied) and "CSRF" in str(error.detail):
        error = PermissionDenied("The CSRF token is missing or old: load the page again.", "csrf")
    answer = exception_handler(error, context)
    if answer is not None:
        answer.data = printable(_with_code(answer.data))
    return answer


def _with_code(body: Any) -> Any:
    """DRF keeps the code on the sentence itself; field errors have a list for each field."""
    code = getattr(body.get("detail"), "code", None) if isinstance(body, dict) else None
    return {**body, "code": code} if code else body


def _ours(error: GoclawError) -> Response:
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, Throttled) else {}
    return Response(printable(error.as_dict()), status=error.status, headers=headers)


def printable(value: Any) -> Any:
    """Return the value with whatever UTF-8 cannot carry replaced: errors quote what was sent."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {printable(key): printable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable(inner) for inner in value]
    return value
