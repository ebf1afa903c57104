"""Signing in and out, and the link with which somebody invited sets a password."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse_lazy

from agents.principals import for_browser
from goclaw_site.config import get_config
from memory import audit


class SignIn(auth.LoginView):
    """The password's way in; `agents.backends` counts failures and notes what happens."""

    template_name = "auth/login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the button of the provider, where there is one."""
        oidc = get_config().login.oidc
        label = oidc.label if oidc.issuer else ""
        return super().get_context_data(**kwargs) | {"provider": label}


class SignOut(auth.LogoutView):
    """Ends the session."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Note who left."""
        user = request.user
        if isinstance(user, User):
            audit.record(for_browser(user), "logout", f"person:{user.pk}")
        return super().post(request, *args, **kwargs)


class Invited(auth.PasswordResetConfirmView):
    """A link that is good once. The password that is set ends every other session."""

    template_name = "auth/invited.html"
    success_url = reverse_lazy("login")

    def form_valid(self, form: Any) -> HttpResponseBase:  # type: ignore[override]  # a wider answer
        """Set the password and lead to the login."""
        person: User = self.user  # type: ignore[assignment]
        audit.record(for_browser(person), "password.set", f"person:{person.pk}")
        messages.success(self.request, "Your password is set. Sign in with it.")
        return super().form_valid(form)
