"""Login by a proxy that has checked already who it is: off unless `login.proxy_header` is set."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth import login, logout
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from agents import people
from agents.addresses import is_trusted, peer_address
from goclaw_site.config import get_config
from goclaw_site.errors import InvalidInput, Refused
from memory import audit
from memory.access import Principal
from memory.pages import failures

BACKEND = "agents.backends.PasswordBackend"
#: In the session: it was opened by the proxy and ends when the proxy stops naming the person.
_MARK = "by_proxy"


class ProxyLoginMiddleware:
    """Takes the header from trusted addresses alone; from others it is as if it were not there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Sign in whom the proxy names; requests with a key are the key's."""
        header = get_config().login.proxy_header
        if header and "Authorization" not in request.headers:
            try:
                _follow(request, header)
            except (Refused, InvalidInput) as error:
                logout(request)
                return failures.respond(request, Refused.status, error.message)
        return self._get_response(request)


def _follow(request: HttpRequest, header: str) -> None:
    name = request.headers.get(header, "") if is_trusted(peer_address(request)) else ""
    current = request.user.get_username() if request.user.is_authenticated else ""
    if name == current:
        return
    if name:
        _sign_in(request, name)
    elif request.session.get(_MARK):
        logout(request)


def _sign_in(request: HttpRequest, name: str) -> None:
    person = User.objects.filter(username=name).first()
    if person is None:
        person = create(name, "proxy")
    if not person.is_active:
        raise Refused("This person is deactivated.")
    login(request, person, backend=BACKEND)
    request.session[_MARK] = True
    note(person, "proxy")


def create(name: str, via: str) -> User:
    """Make the person, where the configuration allows it. Raise Refused, InvalidInput."""
    if not get_config().login.create_people:
        raise Refused("Nobody of this name is known here. An administrator can invite them.")
    made = User.objects.create(username=people.check_username(name), password=make_password(None))
    who = Principal(person=made.pk, name=made.get_username(), door="browser")
    audit.record(who, "person.create", f"person:{made.pk}", via=via)
    return made


def note(person: User, via: str) -> None:
    """Note a login that no password opened."""
    who = Principal(person=person.pk, name=person.get_username(), door="browser")
    audit.record(who, "login", f"person:{person.pk}", via=via)
