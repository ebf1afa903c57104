"""What every page shares: who may come in, fragments or whole pages, failures as pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, cast

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from goclaw_site.errors import GoclawError, Refused
from memory.access import Principal, administers, principal_of
from memory.pages import failures

UNPROCESSABLE = 422
SEE_OTHER = 303


class PageRequest(HttpRequest):
    """A request as pages see it: somebody is signed in."""

    htmx: HtmxDetails

    @property
    def asker(self) -> Principal:
        """Who asks."""
        return principal_of(self)


Page = Callable[..., HttpResponseBase]


def page(view: Page) -> Page:
    """Let signed-in people in, answer expected failures, and keep private text out of caches."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = _answer(view, request, *args, **kwargs)
        add_never_cache_headers(response)
        patch_vary_headers(response, ("HX-Request", "HX-History-Restore-Request"))
        return response

    return wrapped


def admin_page(view: Page) -> Page:
    """The same, for administrators."""

    @page
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not administers(principal_of(request)):
            raise Refused("This page is for administrators.")
        return view(request, *args, **kwargs)

    return wrapped


def _answer(view: Page, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    if not request.user.is_authenticated:
        return _sign_in(request)
    try:
        return view(request, *args, **kwargs)
    except GoclawError as error:
        return failures.answer(request, error)


def _sign_in(request: HttpRequest) -> HttpResponse:
    """Send readers to the login page; what a form posted is shown, so that it is not lost."""
    if wants_fragment(request):
        return failures.respond(request, 401, "Your session has ended. Sign in again.")
    if request.method == "POST":
        return failures.respond(request, 401, "Your session ended before this was sent.")
    return redirect_to_login(request.get_full_path())


def wants_fragment(request: HttpRequest) -> bool:
    """Whether a part of the page is asked for; a restored history entry needs the whole."""
    htmx = cast("PageRequest", request).htmx
    return bool(htmx) and not htmx.history_restore_request


def show(
    request: HttpRequest,
    whole: str,
    fragment: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Render the fragment for a swap, the whole page for everybody else."""
    template = fragment if wants_fragment(request) else whole
    return render(request, template, dict(context), status=status)


def go(request: HttpRequest, address: str) -> HttpResponse:
    """Send the browser to a page after a write: a swap cannot follow a redirect by itself."""
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return HttpResponse(status=SEE_OTHER, headers={"Location": address})


def back_to(request: HttpRequest, otherwise: str) -> str:
    """Return the page that a form or link wants to lead back to; never another site."""
    given = request.POST.get("next") or request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(given, allowed_hosts=None) and given.startswith("/"):
        return given
    return otherwise
