"""What stands around every request: an id, a limit for bodies, security headers."""

import re
import uuid
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from goclaw_site.config import get_config
from goclaw_site.errors import GoclawError, InvalidInput, TooLarge
from goclaw_site.logs import request_id

Handler = Callable[[HttpRequest], HttpResponseBase]

MAX_BODY_BYTES = 64 * 1024 * 1024
#: Files go to the disk while they come in, so that they may be larger than anything else.
UPLOAD_PATH = "/api/memory/wiki/attachments"
#: What stands around the file in the body of an upload.
_WRAPPING = 1024 * 1024
# Pages of Django's admin and of the schema viewer bring styles and scripts of their own.
LOOSE_PATHS = ("/admin/", "/api/docs")
# The admin's skin reads expressions from attributes (Alpine.js).
EVALUATING_PATHS = ("/admin/",)

_POLICY = (
    "default-src 'none'; script-src 'self'{loose}{evaluating}; style-src 'self'{loose}; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
STRICT_POLICY = _POLICY.format(loose="", evaluating="")
LOOSE_POLICY = _POLICY.format(loose=" 'unsafe-inline'", evaluating="")
EVALUATING_POLICY = _POLICY.format(loose=" 'unsafe-inline'", evaluating=" 'unsafe-eval'")
PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestIdMiddleware:
    """Takes a well-formed X-Request-ID or makes one; it is in the answer and in the logs."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The id stays until the next request: Django logs failures after this has returned."""
        given = request.headers.get("X-Request-ID", "")
        current = given if _GIVEN_ID.fullmatch(given) else uuid.uuid4().hex
        request_id.set(current)
        response = self.get_response(request)
        response.headers["X-Request-ID"] = current
        return response


class BodyLimitMiddleware:
    """Refuses what is announced as too large before anything reads it."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """413 as JSON for programs and people alike: no form of ours is that large."""
        if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            # The bridge to WSGI has no way to tell how long such a body is, and it would be lost.
            error: GoclawError = InvalidInput("Send the body with a Content-Length, not in chunks.")
            return JsonResponse(error.as_dict(), status=HTTPStatus.LENGTH_REQUIRED)
        most = _most(request.path_info)
        if _announced(request) <= most:
            return self.get_response(request)
        limit = most // 1024**2
        error = TooLarge(f"The request is larger than {limit} MiB. Send it in parts.")
        return JsonResponse(error.as_dict(), status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


class SecurityHeadersMiddleware:
    """Content-Security-Policy and Permissions-Policy; a view may set its own."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """SecurityMiddleware adds the referrer and opener policies."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", _policy_for(request.path_info))
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        return response


def _policy_for(path: str) -> str:
    if path.startswith(EVALUATING_PATHS):
        return EVALUATING_POLICY
    return LOOSE_POLICY if path.startswith(LOOSE_PATHS) else STRICT_POLICY


def _most(path: str) -> int:
    if path.rstrip("/") != UPLOAD_PATH:
        return MAX_BODY_BYTES
    return max(MAX_BODY_BYTES, get_config().wiki.max_attachment_mb * 1024**2 + _WRAPPING)


def _announced(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
