"""People in the console: invited, given roles, reset, deactivated, deleted; all of it at once."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents import keys, people
from agents.models import ApiKey, Identity
from agents.principals import for_browser
from goclaw_site.errors import Conflict, InvalidInput, Refused
from memory import queries
from memory.access import Principal
from memory.drafts import Draft
from memory.models import AuditEvent, Memory
from memory.write import remember
from tests.agents.speaking import ANN, Gateway
from tests.api.callers import RECORDS, Caller, caller, gateway, user

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _fast(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def boss() -> Client:
    return signed_in(user("boss", is_superuser=True))


@pytest.fixture
def chief(boss) -> Principal:
    return for_browser(User.objects.get(username="boss"))


def signed_in(person: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(person)
    return client


def link_in(answer) -> str:
    found = re.search(r"(/invited/[^<\s]+)", answer.content.decode())
    assert found, answer.content.decode()
    return found[1]


def set_password(path: str, word: str = PASSWORD):
    client = Client()
    form = client.get(path, follow=True)
    target = form.redirect_chain[-1][0] if form.redirect_chain else path
    return client.post(target, {"new_password1": word, "new_password2": word})


def test_an_invitation_from_the_page_to_the_first_sign_in(boss):
    answer = boss.post("/people/invite/", {"username": "ann", "roles": ["editor"]})
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    path = link_in(answer)
    ann = User.objects.get(username="ann")
    assert not ann.has_usable_password()
    assert set_password(path).status_code == 302
    assert b"no longer good" in Client().get(path, follow=True).content, "good once"
    login = Client()
    assert login.post("/login/", {"username": "ann", "password": PASSWORD}).status_code == 302
    assert list(ann.groups.values_list("name", flat=True)) == ["editor"]
    assert login.get("/people/").status_code == 403


@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "x" * 151, "a\nb", "<b>"])
def test_names_that_cannot_be_are_said(boss, name):
    answer = boss.post("/people/invite/", {"username": name})
    assert answer.status_code == 422
    assert b'role="alert"' in answer.content
    assert User.objects.count() == 1


def test_a_name_that_is_taken_and_a_role_that_is_not_there(boss):
    assert boss.post("/people/invite/", {"username": "boss"}).status_code == 422
    assert boss.post("/people/invite/", {"username": "x", "roles": ["king"]}).status_code == 422
    assert User.objects.count() == 1, "nothing is left of a failed invitation"


PAGES = ["/people/", "/identities/", "/audit/"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_for_administrators(path, boss):
    assert boss.get(path).status_code == 200
    assert signed_in(user("ann")).get(path).status_code == 403
    assert signed_in(user("bea", is_staff=True)).get(path).status_code == 403
    assert signed_in(user("cy", groups=("admin",))).get(path).status_code == 200
    assert Client().get(path).status_code == 302


ACTS = [
    ("people/invite/", {"username": "new"}),
    *(
        (f"people/{{pk}}/{action}/", {"heir": "boss", "roles": "admin"})
        for action in (
            "roles",
            "reset",
            "login",
            "sign-out",
            "deactivate",
            "activate",
            "merge",
            "delete",
        )
    ),
    ("identities/{identity}/confirm/", {}),
    ("identities/{identity}/link/", {"person": "ann"}),
]


@pytest.mark.parametrize(("path", "form"), ACTS)
def test_nobody_else_does_any_of_it(path, form, boss):
    Gateway(gateway().key, on_behalf_of=ANN).get(RECORDS)
    identity = Identity.objects.get()
    ann = user("ann")
    before = list(User.objects.order_by("pk").values()), list(Identity.objects.values())
    where = "/" + path.format(pk=identity.person_id, identity=identity.pk)
    assert signed_in(ann).post(where, form).status_code == 403
    assert Client().post(where, form).status_code == 401
    assert Client(enforce_csrf_checks=True).post(where, form).status_code == 403
    assert (
        list(User.objects.exclude(pk=ann.pk).order_by("pk").values()),
        list(Identity.objects.values()),
    )[1] == before[1]
    assert not User.objects.filter(groups__name="admin").exists()
    assert boss.get(where.replace("invite/", "")).status_code in (200, 404, 405)


def test_demotion_acts_at_once_in_an_open_session_and_with_a_key(boss):
    ann = caller("ann", groups=("admin",))
    assert ann.user is not None
    session = signed_in(ann.user)
    assert session.get("/people/").status_code == 200
    assert ann.write("x", scope="agent_notes").status_code == 201
    boss.post(f"/people/{ann.user.pk}/roles/", {"roles": []})
    assert session.get("/people/").status_code == 403
    assert session.get("/api/audit/").status_code == 403
    assert ann.write("y", scope="agent_notes").status_code == 403
    assert ann.get("/api/audit/").status_code == 403


def test_deactivation_ends_sessions_and_keys_at_once(boss):
    ann = caller("ann")
    assert ann.user is not None
    session = signed_in(ann.user)
    assert session.get("/me/").status_code == 200
    boss.post(f"/people/{ann.user.pk}/deactivate/")
    assert session.get("/me/").status_code == 302
    assert ann.get(RECORDS).status_code == 401
    assert not ApiKey.objects.filter(user=ann.user, revoked_at=None).exists()
    boss.post(f"/people/{ann.user.pk}/activate/")
    assert session.get("/me/").status_code == 302, "an ended session stays ended"
    assert ann.get(RECORDS).status_code == 401
    assert signed_in(ann.user).get("/me/").status_code == 200


def test_a_reset_takes_password_and_sessions(boss):
    ann = user("ann")
    ann.set_password(PASSWORD)
    ann.save()
    session = signed_in(ann)
    path = link_in(boss.post(f"/people/{ann.pk}/reset/"))
    assert session.get("/me/").status_code == 302
    login = {"username": "ann", "password": PASSWORD}
    assert Client().post("/login/", login).status_code == 200
    assert set_password(path, "another horse entirely").status_code == 302
    login["password"] = "another horse entirely"
    assert Client().post("/login/", login).status_code == 302


def test_end_the_sessions_of_one_and_no_other(boss):
    ann, bob = user("ann"), user("bob")
    anns, bobs = signed_in(ann), signed_in(bob)
    boss.post(f"/people/{ann.pk}/sign-out/")
    assert anns.get("/me/").status_code == 302
    assert bobs.get("/me/").status_code == 200
    assert boss.get("/people/").status_code == 200


def with_records(name: str, count: int = 3) -> User:
    person = user(name)
    who = Principal(person=person.pk, name=name)
    for number in range(count):
        remember(who, Draft(f"record {number}"))
    return person


def test_deleting_a_person_needs_a_choice_about_their_records(boss, chief):
    ann, bob = with_records("ann"), with_records("bob", 1)
    for form in (
        {},
        {"records": "keep"},
        {"records": "hand"},
        {"records": "hand", "heir": "nobody"},
    ):
        answer = boss.post(f"/people/{ann.pk}/delete/", form)
        assert answer.status_code == 422, form
    assert Memory.objects.count() == 4
    key = keys.create(ann).text
    assert (
        boss.post(f"/people/{ann.pk}/delete/", {"records": "hand", "heir": "bob"}).status_code
        == 303
    )
    assert Caller(key).get(RECORDS).status_code == 401
    assert not User.objects.filter(username="ann").exists()
    bobs = Principal(person=bob.pk, name="bob")
    assert queries.records(bobs).count() == 3, "record 0 was there already"
    boss.post(f"/people/{bob.pk}/delete/", {"records": "delete"})
    assert not Memory.objects.exists()
    told = AuditEvent.objects.filter(action="person.delete").order_by("id")
    assert [row.facts for row in told] == [{"records": "hand"}, {"records": "delete"}]


def test_the_page_says_that_records_exist_and_nothing_else(boss):
    ann = with_records("ann")
    for path in (f"/people/{ann.pk}/", f"/people/{ann.pk}/delete/"):
        page = boss.get(path).content.decode()
        assert "3 personal records" in page
        assert "record 0" not in page


def test_somebody_is_always_left_to_open_the_door():
    only = user("only", groups=("admin",))
    principal = for_browser(only)
    with pytest.raises(Conflict, match="last administrator"):
        people.set_roles(principal, only, [])
    with pytest.raises(Refused):
        people.set_active(principal, only, False)
    with pytest.raises(Refused):
        people.delete(principal, only, "delete")
    second = user("second", groups=("admin",))
    people.set_roles(principal, only, [])
    with pytest.raises(Conflict):
        people.set_active(Principal(name="command", is_admin=True), second, False)
    second.refresh_from_db()
    assert second.is_active


def test_an_administrator_makes_no_superuser_of_themself(boss):
    """Who can reset a superuser's password is one."""
    root = User.objects.get(username="boss")
    chief = for_browser(user("chief", groups=("admin",)))
    for act in (
        lambda: people.reset(chief, root),
        lambda: people.set_active(chief, root, False),
        lambda: people.set_roles(chief, root, []),
        lambda: people.delete(chief, root, "delete"),
        lambda: people.sign_out(chief, root),
        lambda: people.invite_known(chief, root, "mine"),
    ):
        with pytest.raises(Refused):
            act()


def test_a_person_of_a_channel_gets_a_login(boss):
    gate = Gateway(gateway().key, on_behalf_of=ANN)
    memory_id = gate.wrote("ann likes tea", scope="personal")
    person = Identity.objects.get().person
    path = link_in(boss.post(f"/people/{person.pk}/login/", {"username": "ann"}))
    set_password(path)
    login = Client()
    assert login.post("/login/", {"username": "ann", "password": PASSWORD}).status_code == 302
    assert login.get(f"/memory/{memory_id}/").status_code == 200


def test_keys_in_the_console(boss):
    ann = user("ann")
    session = signed_in(ann)
    made = session.post("/keys/make/", {"label": "laptop", "read_only": "yes"})
    text = re.search(r"gc_[0-9a-f]{10}_[\w-]{32}", made.content.decode())
    assert text
    assert "no-store" in made["Cache-Control"]
    key = ApiKey.objects.get()
    assert (key.user, key.read_only, key.made_by, key.label) == (ann, True, "ann", "laptop")
    assert text[0] not in session.get("/keys/").content.decode()
    rotated = session.post(f"/keys/{key.prefix}/rotate/")
    fresh = re.search(r"gc_[0-9a-f]{10}_[\w-]{32}", rotated.content.decode())
    assert fresh
    assert Caller(text[0]).get(RECORDS).status_code == 401
    assert Caller(fresh[0]).get(RECORDS).status_code == 200
    assert Caller(fresh[0]).write("x").status_code == 403, "still reads alone"
    prefix = ApiKey.objects.get(revoked_at=None).prefix
    bob = signed_in(user("bob"))
    assert bob.get(f"/keys/{prefix}/revoke/").status_code == 404
    assert bob.post(f"/keys/{prefix}/revoke/").status_code == 404
    assert bob.post(f"/keys/{prefix}/rotate/").status_code == 404
    assert prefix not in bob.get("/keys/").content.decode()
    assert session.get(f"/keys/{prefix}/revoke/").status_code == 200
    assert session.post(f"/keys/{prefix}/revoke/").status_code == 303
    assert Caller(fresh[0]).get(RECORDS).status_code == 401


def test_gateway_keys_are_made_by_administrators(boss):
    session = signed_in(user("ann"))
    refused = session.post("/keys/make/", {"kind": "gateway"})
    assert refused.status_code == 422
    assert not ApiKey.objects.exists()
    assert boss.post("/keys/make/", {"kind": "gateway", "label": "bot"}).status_code == 200
    assert ApiKey.objects.get().gateway


def test_a_key_made_for_somebody_else_is_noted_and_shown_to_them(boss, chief):
    ann = user("ann")
    keys.create(ann, by=chief, label="for ann")
    page = signed_in(ann).get("/keys/").content.decode()
    assert "for ann" in page
    assert "boss" in page
    event = AuditEvent.objects.get(action="key.create")
    assert (event.actor, event.facts["person"]) == ("boss", ann.pk)
    with pytest.raises(Refused):
        keys.create(ann, by=for_browser(user("bob")))


@pytest.mark.parametrize(
    "form", [{"expires": "yesterday"}, {"expires": "2001-01-01"}, {"label": "x" * 101}]
)
def test_wrong_keys_are_said(form):
    answer = signed_in(user("ann")).post("/keys/make/", form)
    assert answer.status_code == 422
    assert b'role="alert"' in answer.content
    assert not ApiKey.objects.exists()


def test_unknown_things_are_404(boss):
    for path in ("/people/99999/", "/people/99999/delete/", "/keys/nothing/revoke/"):
        assert boss.get(path).status_code == 404
    for path in ("/people/99999/reset/", "/identities/99999/confirm/", "/people/1/explode/"):
        assert boss.post(path).status_code == 404
    assert boss.get("/audit/?since=soon").status_code == 422
    assert boss.get("/audit/?before=x").status_code == 200
    with pytest.raises(InvalidInput):
        people.check_username("a b")


def test_lists_have_pages(boss):
    for number in range(60):
        user(f"p{number:02}")
    first = boss.get("/people/").content.decode()
    assert "Page 1 of 2" in first
    assert "p59" in boss.get("/people/?page=2").content.decode()
    assert "p07" in boss.get("/people/?q=p07").content.decode()
    for _ in range(130):
        keys.create(None, gateway=True)
    page = boss.get("/audit/").content.decode()
    older = re.search(r'href="(\?[^"]*before=[^"]*)"', page)
    assert older
    assert boss.get("/audit/" + older[1].replace("&amp;", "&")).status_code == 200
