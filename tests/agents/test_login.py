"""Login by a trusted proxy and through OpenID Connect: only whom they may let in."""

import re
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import set_script_prefix
from joserfc.jwk import RSAKey

from agents import identities
from agents.models import Identity
from agents.principals import for_browser
from memory.models import AuditEvent
from tests.agents.provider import CLIENT, SECRET, Provider
from tests.api.callers import caller, user

pytestmark = pytest.mark.django_db
HOME = "/me/"


def by_proxy(client: Client, name: str, peer: str = "127.0.0.1", path: str = HOME, **extra):
    headers = {"X-Remote-User": name} if name else {}
    return client.get(path, headers=headers | extra, REMOTE_ADDR=peer)


@pytest.fixture
def proxy(configure) -> Client:
    configure({"login.proxy_header": "X-Remote-User"})
    return Client(raise_request_exception=False)


def test_the_header_is_nothing_while_it_is_off(db):
    user("ann")
    assert by_proxy(Client(), "ann").status_code == 302


def test_a_trusted_proxy_signs_people_in(proxy):
    user("ann")
    assert by_proxy(proxy, "ann").status_code == 200
    event = AuditEvent.objects.get(action="login")
    assert (event.actor, event.facts) == ("ann", {"via": "proxy"})
    by_proxy(proxy, "ann")
    assert AuditEvent.objects.filter(action="login").count() == 1, "one session, one login"


@pytest.mark.parametrize("peer", ["10.0.0.1", "127.0.0.2", "", "::ffff:127.0.0.1", "garbage"])
def test_from_anywhere_else_the_header_is_not_there(proxy, peer):
    user("ann")
    assert by_proxy(proxy, "ann", peer).status_code == 302


def test_forwarded_addresses_make_no_proxy(proxy, configure):
    configure({"server.secure": "true"})
    user("ann")
    forged = {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https"}
    assert by_proxy(proxy, "ann", "10.0.0.1", **forged).status_code == 302


def test_the_session_follows_the_proxy(proxy):
    user("ann")
    user("bob")
    assert b"ann" in by_proxy(proxy, "ann").content
    assert by_proxy(proxy, "bob").wsgi_request.user.get_username() == "bob"
    assert by_proxy(proxy, "").status_code == 302, "signed out at the proxy is signed out here"


def test_a_password_session_stays_without_the_header(proxy):
    proxy.force_login(user("ann"))
    assert by_proxy(proxy, "").status_code == 200


@pytest.mark.parametrize("name", ["nobody", "ANN", "ann,bob", "ann bob", "a" * 500, "<b>"])
def test_names_that_nobody_has_are_refused(proxy, name):
    user("ann")
    answer = by_proxy(proxy, name)
    assert answer.status_code == 403
    assert User.objects.count() == 1


def test_new_people_where_that_is_allowed(proxy, configure):
    configure({"login.create_people": "true"})
    assert by_proxy(proxy, "new").status_code == 200
    made = User.objects.get()
    assert (made.is_staff, made.is_superuser, made.groups.count()) == (False, False, 0)
    assert not made.has_usable_password()
    assert by_proxy(proxy, "a b").status_code == 403, "no name at all"


def test_the_deactivated_stay_out(proxy):
    person = user("ann")
    by_proxy(proxy, "ann")
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert by_proxy(proxy, "ann").status_code == 403


def test_keys_are_not_the_proxys(proxy):
    ann = caller("ann")
    user("bob")
    answer = ann.get("/api/memory/", headers={"X-Remote-User": "bob"})
    assert answer.status_code == 200
    assert answer.wsgi_request.principal.name == "ann"


@pytest.fixture
def provider(configure):
    made = Provider()
    configure(
        {
            "login.oidc.issuer": made.issuer,
            "login.oidc.client_id": CLIENT,
            "login.oidc.client_secret": SECRET,
        }
    )
    yield made
    made.close()


def through(provider: Provider, client: Client, target: str = ""):
    begun = client.get("/login/provider/", {"next": target} if target else None)
    assert begun.status_code == 302, begun.content
    back = urlsplit(provider.agree(begun["Location"]))
    return client.get(f"{back.path}?{back.query}")


def test_there_is_no_such_page_while_it_is_off(db):
    for path in ("/login/provider/", "/login/provider/return/"):
        assert Client(raise_request_exception=False).get(path).status_code == 404


def test_the_button_stands_on_the_login_page(provider):
    page = Client().get("/login/?next=/me/").content.decode()
    assert "Single sign-on" in page
    assert "/login/provider/?next=/me/" in page


def test_a_stranger_waits_for_an_administrator_and_is_then_the_person(provider):
    ann, client = user("ann"), Client(raise_request_exception=False)
    refused = through(provider, client)
    assert refused.status_code == 403
    assert b"Identities" in refused.content
    assert "_auth_user_id" not in client.session
    identity = Identity.objects.get()
    assert (identity.channel, identity.external_id) == (provider.issuer, "s-1")
    assert identity.person != ann, "a name proves nothing"
    boss = for_browser(user("boss", is_superuser=True))
    identities.link(boss, identity.pk, ann)
    answer = through(provider, client, "/me/")
    assert (answer.status_code, answer["Location"]) == (302, "/me/")
    assert client.session["_auth_user_id"] == str(ann.pk)
    assert AuditEvent.objects.get(action="login").facts == {"via": "oidc"}
    provider.claims["preferred_username"] = "renamed"
    assert through(provider, Client()).status_code == 302, "the subject counts, not the name"


def test_a_provider_whose_names_are_trusted(provider, configure):
    configure({"login.trust_usernames": "true"})
    ann, client = user("ann"), Client()
    assert through(provider, client).status_code == 302
    assert client.session["_auth_user_id"] == str(ann.pk)


def test_new_people_from_the_provider(provider, configure):
    configure({"login.create_people": "true"})
    client = Client()
    assert through(provider, client).status_code == 302
    assert client.session["_auth_user_id"] == str(User.objects.get(username="ann").pk)
    user("bob")
    provider.claims = {"sub": "s-2", "preferred_username": "bob"}
    assert through(provider, Client(raise_request_exception=False)).status_code == 403


def test_the_secret_goes_to_the_provider_alone(provider, configure):
    configure({"login.create_people": "true"})
    client = Client()
    begun = client.get("/login/provider/")
    assert SECRET not in begun["Location"]
    through(provider, client)
    assert "code_verifier" in provider.asked[-1]


SPOILT = [
    {"iss": "https://evil.example"},
    {"aud": "somebody-else"},
    {"nonce": "another"},
    {"exp": 1},
    {"sub": ""},
    {"sub": 7},
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_token_that_is_not_right_opens_nothing(provider, configure, spoil):
    configure({"login.create_people": "true", "login.trust_usernames": "true"})
    user("ann")
    provider.spoil = spoil
    client = Client(raise_request_exception=False)
    assert through(provider, client).status_code == 403
    assert "_auth_user_id" not in client.session


def test_a_token_with_a_foreign_signature_opens_nothing(provider, configure):
    configure({"login.create_people": "true"})
    provider.signing = RSAKey.generate_key(2048, {"kid": "k1"})
    client = Client(raise_request_exception=False)
    assert through(provider, client).status_code == 403
    assert not User.objects.exists()


def test_an_answer_nobody_asked_for_is_refused(provider):
    client = Client(raise_request_exception=False)
    for query in ("?code=code&state=forged", "?error=access_denied", "?code=x", ""):
        assert client.get("/login/provider/return/" + query).status_code == 403


def test_the_way_on_stays_on_this_server(provider, configure):
    configure({"login.create_people": "true"})
    for target in ("https://evil.example/", "//evil.example", "javascript:alert(1)"):
        answer = through(provider, Client(), target)
        assert answer["Location"] == "/"


def test_a_provider_that_does_not_answer_is_said(configure):
    configure({"login.oidc.issuer": "http://127.0.0.1:9", "login.oidc.client_id": CLIENT})
    answer = Client(raise_request_exception=False).get("/login/provider/")
    assert answer.status_code == 503
    assert b"does not answer" in answer.content


@pytest.fixture
def below(settings):
    """What the WSGI handler does with `server.base_path`; the test client leaves it out."""
    settings.FORCE_SCRIPT_NAME = "/brain"
    set_script_prefix("/brain/")
    yield
    set_script_prefix("/")


def test_everything_works_below_a_path(below):
    page = Client().get("/login/").content.decode()
    client = Client()
    client.force_login(user("ann"))
    home = client.get("/me/").content.decode()
    assert 'href="/"' not in home
    for link in re.findall(r'(?:href|action|src|hx-get)="(/[^"]*)"', page + home):
        # The storage of static files has its address from the start of the process.
        assert link.startswith(("/brain/", "/static/")), link
    assert Client().get("/me/")["Location"].startswith("/brain/login/")
    assert client.post("/logout/")["Location"] == "/brain/login/"
    answer = client.get("/admin/", headers={"Accept": "text/html"})
    assert "unsafe-eval" in answer["Content-Security-Policy"], "the path without the prefix counts"
