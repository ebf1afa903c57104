"""How the schema of the API describes keys."""

from __future__ import annotations

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A bearer token."""

    target_class = "agents.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the security scheme object of OpenAPI."""
        return {"type": "http", "scheme": "bearer", "description": "A key: gc_…"}


class LoginScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """The browser's session."""

    target_class = "agents.authentication.LoginAuthentication"
