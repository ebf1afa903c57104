"""Keys at the door of the API."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from agents import contexts, throttling
from agents.addresses import client_address
from agents.contexts import CallContext
from agents.models import ApiKey
from agents.principals import NO_CONTEXT, for_key, for_login
from goclaw_site.errors import InvalidInput, Unauthorized
from memory.access import Principal

_WITH_BODY = ("POST", "PUT", "PATCH")
_JSON = "application/json"


class Organisation(AnonymousUser):
    """The user of a gateway key: nobody in particular, and let in."""

    @property
    def is_authenticated(self) -> bool:  # type: ignore[override]  # a constant in the base class
        return True


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer gc_…`; other schemes are left to the next class."""

    def authenticate(self, request: Request) -> tuple[User | Organisation, ApiKey] | None:
        """Return the caller and the key, or None where no key is given."""
        scheme, _, text = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        address = client_address(request._request)  # noqa: SLF001  the request below DRF's
        try:
            key = throttling.admit_key(text.strip(), address)
        except Unauthorized as error:
            raise AuthenticationFailed(error.message, code=error.code) from None
        _put(request, for_key(key, context_of(request)))
        return key.user or Organisation(), key

    def authenticate_header(self, request: Request) -> str:
        """Make the answer to a missing key a 401."""
        return 'Bearer realm="goclaw"'


class LoginAuthentication(SessionAuthentication):
    """The browser's session, with CSRF; it may say which agent and conversation, as a key may."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return who is signed in, or None."""
        found = super().authenticate(request)
        if found is not None:
            context = context_of(request)
            if context != NO_CONTEXT:
                _put(request, for_login(found[0], context))
        return found


def context_of(request: Request) -> CallContext:
    """Return what the header or the body's field says of the run, and take the field out.

    Raises InvalidInput where both speak.
    """
    header = request.headers.get(contexts.HEADER)
    in_body = _taken_from_body(request)
    if header is not None and in_body is not _ABSENT:
        raise InvalidInput(
            f"Both {contexts.HEADER} and the field '{contexts.FIELD}' are given: send one.",
            field=contexts.FIELD,
        )
    if header is not None:
        return contexts.from_header(header)
    return NO_CONTEXT if in_body is _ABSENT else contexts.parse(in_body)


_ABSENT = object()


def _taken_from_body(request: Request) -> Any:
    """The views read their bodies strictly: a field that is not theirs would be an error."""
    if request.method not in _WITH_BODY or request.content_type.split(";")[0] != _JSON:
        return _ABSENT
    body = request.data
    return body.pop(contexts.FIELD, _ABSENT) if isinstance(body, dict) else _ABSENT


def _put(request: Request, principal: Principal) -> None:
    request._request.principal = principal  # type: ignore[attr-defined]  # noqa: SLF001
