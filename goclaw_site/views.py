"""Health, the schema viewer, and the answers to requests that failed."""

import logging
import sys
from http import HTTPStatus

from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView, redirect_to_login
from django.contrib.messages.views import SuccessMessageMixin
from django.core.exceptions import DisallowedHost
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularSwaggerSplitView

from goclaw_site.errors import DATABASE_AWAY
from memory import readiness
from memory.pages import failures

logger = logging.getLogger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is looked at."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Database, queue, worker and index; 503 where one of them is not as it should be."""
    try:
        report = readiness.report()
    except Exception:
        # Whatever broke, a monitor must read an answer.
        logger.exception("The readiness report failed")
        report = {"ok": False, "detail": "The readiness report failed; see the log."}
    status = HTTPStatus.OK if report.get("ok") else HTTPStatus.SERVICE_UNAVAILABLE
    return JsonResponse(report, status=status)


_swagger = SpectacularSwaggerSplitView.as_view(url_name="schema")


@require_safe
def api_docs(request: HttpRequest) -> HttpResponseBase:
    """People without a session are sent to the login page, programs get their 401."""
    if not request.user.is_authenticated and "Authorization" not in request.headers:
        return redirect_to_login(request.get_full_path())
    return _swagger(request)


class PasswordView(SuccessMessageMixin[PasswordChangeForm], PasswordChangeView):
    """Change one's own password; other sessions of the person end."""

    template_name = "auth/password.html"
    success_url = reverse_lazy("memory")
    success_message = "Your password is changed."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400; the exception may quote the request, so it is not shown."""
    message = "The request could not be understood."
    if isinstance(exception, DisallowedHost):
        message = (
            "This server is not set up for the host name in the address. An operator can add it "
            "to server.allowed_hosts."
        )
    return _failure(request, HTTPStatus.BAD_REQUEST, message)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler403."""
    return _failure(request, HTTPStatus.FORBIDDEN, "You may not do that.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that was open too long, or a program without a key."""
    message = "The form has expired or its security token is missing. Load the page again."
    if request.path_info.startswith("/api/"):
        return _failure(request, HTTPStatus.FORBIDDEN, message)
    return failures.expired_form(request, message)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404."""
    return _failure(request, HTTPStatus.NOT_FOUND, "There is nothing at this address.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the failure is handled; the log has the trace."""
    if isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)):
        return _failure(request, HTTPStatus.SERVICE_UNAVAILABLE, DATABASE_AWAY)
    return _failure(
        request, HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong on the server."
    )


_CODES = {400: "invalid", 403: "refused", 404: "not_found", 503: "unavailable"}


def _failure(request: HttpRequest, status: HTTPStatus, message: str) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        code = _CODES.get(status, "error")
        return JsonResponse({"detail": message, "code": code}, status=status)
    try:
        return failures.respond(request, int(status), message)
    except Exception:
        # The page itself may be what failed.
        logger.exception("The error page failed")
        return HttpResponse(f"{int(status)} {message}", status=status, content_type="text/plain")
