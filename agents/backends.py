"""Passwords: counted, throttled and noted at every door that takes one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from agents import throttling
from agents.addresses import client_address
from goclaw_site.errors import Throttled
from memory import audit
from memory.access import Principal


class _Wrong(Exception):
    """Keeps the attempt counted."""


class PasswordBackend(ModelBackend):
    """Django's own, behind the limits of `agents.throttling`."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **more: Any,
    ) -> User | None:
        """Return the person, or None. Raise Throttled after too many failures."""
        if username is None or password is None:
            return None
        address = client_address(request) if request is not None else ""
        try:
            with throttling.login_attempt(username, address):
                user = super().authenticate(request, username, password, **more)
                if user is None:
                    raise _Wrong
        except _Wrong:
            _note(username, None, audit.FAILED)
            return None
        except Throttled:
            _note(username, None, audit.REFUSED)
            raise
        _note(username, user, audit.DONE)
        return user


def _note(username: str, user: User | None, outcome: str) -> None:
    """A name that nobody has is not written down: it may be a password in the wrong field."""
    known = user or User.objects.filter(username=username).first()
    name = known.get_username() if known else ""
    who = Principal(person=user.pk if user else None, name=name or "nobody", door="browser")
    audit.record(who, "login", f"person:{known.pk}" if known else "", outcome=outcome)
