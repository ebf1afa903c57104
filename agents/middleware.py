"""The principal of a browser request."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.functional import SimpleLazyObject

from agents.principals import for_browser
from goclaw_site.errors import GoclawError
from memory.pages import failures


class PrincipalMiddleware:
    """Put the principal on each request, built when it is first asked for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.principal = SimpleLazyObject(  # type: ignore[attr-defined]
            lambda: for_browser(request.user)
        )
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Render our own failures where no view did: a throttled login, in Django's admin too."""
        if not isinstance(error, GoclawError):
            return None
        if request.path_info.startswith("/api/"):
            return JsonResponse(error.as_dict(), status=error.status)
        return failures.answer(request, error)
