"""Limits of keys, of guesses at keys, of wrong passwords; by address, also behind a proxy."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client, RequestFactory
from django.utils import timezone

from agents import addresses, throttling
from agents.models import Attempt, KeyUse
from memory.models import AuditEvent
from tests.api.callers import RECORDS, Caller, caller, gateway, reason, user
from tests.commands.running import outside

pytestmark = pytest.mark.django_db
WRONG = {"Authorization": "Bearer gc_0000000000_x"}
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _anew(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    throttling.forget_counts()
    yield
    throttling.forget_counts()


def person(name: str = "ann"):
    made = user(name)
    made.set_password(PASSWORD)
    made.save()
    return made


def sign_in(word: str, name: str = "ann", address: str = "10.0.0.1", **headers):
    client = Client(raise_request_exception=False)
    form = {"username": name, "password": word}
    return client.post("/login/", form, REMOTE_ADDR=address, headers=headers)


def test_a_key_is_held_to_its_requests_a_minute(configure):
    configure({"keys.requests_per_minute": 5})
    ann, bob = caller("ann"), caller("bob")
    with time_machine.travel("2030-01-01T10:00:30Z", tick=False):
        assert [ann.get(RECORDS).status_code for _ in range(6)] == [200] * 5 + [429]
        refused = ann.get(RECORDS)
        assert refused["Retry-After"] == "30"
        assert "5 requests" in reason(refused)
        assert bob.get(RECORDS).status_code == 200, "another key has its own"
    with time_machine.travel("2030-01-01T10:01:00Z", tick=False):
        assert ann.get(RECORDS).status_code == 200
    assert KeyUse.objects.filter(key__user=ann.user).count() == 1, "old minutes go"


def test_processes_share_the_count(configure):
    configure({"keys.requests_per_minute": 40})
    ann = caller("ann")
    with time_machine.travel("2030-01-01T10:00:30Z", tick=False):
        for _ in range(20):
            assert ann.get(RECORDS).status_code == 200
        throttling.forget_counts()  # what another process knows
        answers = [ann.get(RECORDS).status_code for _ in range(25)]
    assert answers.count(200) in range(18, 23)
    assert answers[-1] == 429


def test_no_limit_writes_nothing(configure):
    configure({"keys.requests_per_minute": 0})
    ann = caller("ann")
    assert {ann.get(RECORDS).status_code for _ in range(30)} == {200}
    assert not KeyUse.objects.exists()


def test_reads_stay_reads(django_assert_num_queries):
    ann = caller("ann")
    ann.get(RECORDS)
    assert not KeyUse.objects.exists()


def test_guessing_at_keys_is_throttled_by_address(configure):
    configure({"keys.guesses": 3})
    stranger, ann = Caller(), caller("ann")
    answers = [stranger.get(RECORDS, headers=WRONG).status_code for _ in range(5)]
    assert answers == [401, 401, 401, 429, 429]
    refused = stranger.get(RECORDS, headers=WRONG)
    assert 0 < int(refused["Retry-After"]) <= 300
    assert ann.get(RECORDS).status_code == 200, "who shares the address is not locked out"
    elsewhere = stranger.get(RECORDS, headers=WRONG, REMOTE_ADDR="10.9.9.9")
    assert elsewhere.status_code == 401
    with time_machine.travel(timezone.now() + timedelta(minutes=6)):
        assert stranger.get(RECORDS, headers=WRONG).status_code == 401


def test_no_guess_is_written_down(configure):
    Caller().get(RECORDS, headers={"Authorization": "Bearer gc_0123456789_my-guess"})
    held = Attempt.objects.get()
    assert "guess" not in held.subject


def test_failures_count_for_a_whole_ipv6_network(configure):
    configure({"keys.guesses": 2})
    stranger = Caller()
    answers = [
        stranger.get(RECORDS, headers=WRONG, REMOTE_ADDR=f"2001:db8::{n}").status_code
        for n in range(1, 5)
    ]
    assert answers == [401, 401, 429, 429]


def test_wrong_passwords_are_throttled(configure):
    configure({"login.failures": 3})
    person()
    assert [sign_in("wrong").status_code for _ in range(3)] == [200] * 3
    refused = sign_in(PASSWORD)
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert b"Too many" in refused.content
    assert sign_in(PASSWORD, address="10.0.0.2").status_code == 302, "the person elsewhere gets in"
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        assert sign_in(PASSWORD).status_code == 302
    assert AuditEvent.objects.filter(action="login", outcome="refused").count() == 1


def test_success_forgets_the_failures_before_it(configure):
    configure({"login.failures": 3})
    person()
    for _ in range(3):
        sign_in("wrong")
        sign_in("wrong")
        assert sign_in(PASSWORD).status_code == 302


def test_many_names_from_one_address_and_one_name_from_many(configure):
    configure({"login.failures": 1})
    person()
    spray = [sign_in("wrong", name=f"n{n}").status_code for n in range(12)]
    assert spray == [200] * 10 + [429] * 2
    Attempt.objects.all().delete()
    spread = [sign_in("wrong", address=f"10.1.{n}.1").status_code for n in range(12)]
    assert spread == [200] * 10 + [429] * 2


def test_django_admin_has_no_door_of_its_own(configure):
    configure({"login.failures": 1})
    person()
    sign_in("wrong")
    client = Client(raise_request_exception=False)
    form = {"username": "ann", "password": PASSWORD, "next": "/admin/"}
    answer = client.post("/admin/login/", form, REMOTE_ADDR="10.0.0.1")
    assert answer.status_code in (302, 405, 429)
    assert "_auth_user_id" not in client.session


def test_a_name_that_does_not_exist_behaves_the_same(configure):
    configure({"login.failures": 2})
    person()
    known = [sign_in("wrong").status_code for _ in range(3)]
    unknown = [sign_in("wrong", name="nobody").status_code for _ in range(3)]
    assert known == unknown == [200, 200, 429]


@pytest.mark.parametrize("name", ["\x00", "ann\x00", "a" * 500, "\ud800", "", "名前"])
def test_strange_names_fail_plainly(name):
    assert sign_in("x", name=name.encode("utf-8", "replace").decode()).status_code == 200


def asked(peer: str, forwarded: str = "") -> str:
    extra = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    return addresses.client_address(RequestFactory().get("/", REMOTE_ADDR=peer, **extra))


def test_addresses_behind_a_proxy(configure):
    assert asked("127.0.0.1", "1.2.3.4") == "127.0.0.1", "no proxy is set up"
    configure({"server.secure": "true", "server.trusted_proxies": '["127.0.0.1", "10.0.0.0/8"]'})
    assert asked("127.0.0.1", "1.2.3.4") == "1.2.3.4"
    assert asked("127.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.7") == "1.2.3.4", "the client's own words"
    assert asked("9.9.9.9", "1.2.3.4") == "9.9.9.9", "not our proxy"
    assert asked("127.0.0.1") == "127.0.0.1"
    assert asked("127.0.0.1", "10.0.0.1") == "127.0.0.1"
    assert asked("") == ""
    assert asked("127.0.0.1", "<script>") == "<script>"


def test_the_default_limit_is_far_from_ordinary_work():
    gate = gateway()
    assert {gate.get(RECORDS).status_code for _ in range(60)} == {200}


def test_deploy_check_is_clean(tmp_path):
    """In the mode for servers, as an operator runs it."""
    done = outside(
        tmp_path, "check", "--deploy", "--fail-level", "WARNING", GOCLAW_SERVER__SECURE="true"
    )
    assert done.status == 0, done.err
    assert "no issues" in done.out
