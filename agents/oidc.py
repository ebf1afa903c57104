"""Login through OpenID Connect, by Authlib (the extra `oidc`): off unless an issuer is set.

What the provider says is an identity like those of channels: issuer and subject, linked to one
person. A name from the provider is nobody here unless the configuration trusts it.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agents import identities, proxylogin
from agents.contexts import Speaker
from agents.models import Identity
from goclaw_site.config import get_config
from goclaw_site.errors import NotFound, Refused, Unavailable

_TIMEOUT = 10
_NEXT = "oidc_next"


@never_cache
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider."""
    target = request.GET.get("next", "")
    safe = url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()})
    request.session[_NEXT] = target if safe else "/"
    answer: HttpResponse = _asked(
        lambda provider: provider.authorize_redirect(request, _return_address(request))
    )
    return answer


@never_cache
@require_safe
def finish(request: HttpRequest) -> HttpResponse:
    """Take the provider's answer: its signature, issuer, audience, nonce and state are checked."""
    token = _asked(lambda provider: provider.authorize_access_token(request))
    claims = token.get("userinfo") or {}
    person = _person(claims)
    if not person.is_active:
        raise Refused("This person is deactivated.")
    target = request.session.pop(_NEXT, "/")
    login(request, person, backend=proxylogin.BACKEND)
    proxylogin.note(person, "oidc")
    return redirect(target)


def _asked(act: Any) -> Any:
    """Ask the provider; whatever goes wrong there is said without quoting it."""
    provider = _provider()
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    try:
        return act(provider)
    except RequestException:
        raise Unavailable("The sign-in provider does not answer. Try again in a minute.") from None
    except (AuthlibBaseError, JoseError, ValueError, KeyError):
        raise Refused("The sign-in provider's answer is not valid. Sign in again.") from None


def _provider() -> Any:
    settings = get_config().login.oidc
    if not settings.issuer:
        raise NotFound("There is nothing at this address.")
    try:
        from authlib.integrations.django_client import OAuth
    except ImportError:
        raise Unavailable("The extra 'oidc' is not installed: pip install '.[oidc]'.") from None
    secret = settings.client_secret
    return OAuth().register(
        "provider",
        client_id=settings.client_id,
        client_secret=secret.get_secret_value() if secret else None,
        server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": " ".join(settings.scopes),
            "code_challenge_method": "S256",
            "timeout": _TIMEOUT,
        },
    )


def _return_address(request: HttpRequest) -> str:
    public = get_config().server.public_url.rstrip("/")
    path = reverse("oidc-finish")
    return f"{public}{path}" if public else request.build_absolute_uri(path)


def _person(claims: dict[str, Any]) -> User:
    issuer, subject = claims.get("iss"), claims.get("sub")
    if not isinstance(issuer, str) or not isinstance(subject, str) or not subject:
        raise Refused("The sign-in provider does not say who you are.")
    digest = identities.digest_of(issuer, subject)
    known = Identity.objects.select_related("person").filter(digest=digest).first()
    if known is None:
        known = _first_time(claims, Speaker(issuer[:200], subject[:500], _shown(claims)), digest)
    if not known.confirmed:
        raise Refused("An administrator has to let you in first: you stand under Identities there.")
    return known.person


def _first_time(claims: dict[str, Any], speaker: Speaker, digest: str) -> Identity:
    """Find or make the person, as far as the configuration goes; else only the identity."""
    rules = get_config().login
    name = str(claims.get(rules.oidc.username_claim) or "")
    held = User.objects.filter(username=name).first() if name else None
    if held is not None and not rules.trust_usernames:
        return _stranger(speaker)
    if held is None and not (name and rules.create_people):
        return _stranger(speaker)
    with transaction.atomic():
        return Identity.objects.create(
            channel=speaker.channel,
            external_id=speaker.external_id,
            digest=digest,
            display_name=speaker.display_name,
            person=held or proxylogin.create(name, "oidc"),
            confirmed_at=timezone.now(),
        )


def _stranger(speaker: Speaker) -> Identity:
    made = identities.resolve(speaker)
    assert made is not None
    return made


def _shown(claims: dict[str, Any]) -> str:
    return " ".join(str(claims.get("name") or "").split())[:200]
