"""Keys: what each kind may do, and what is kept of them."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents import keys
from agents.models import ApiKey
from goclaw_site.errors import InvalidInput, NotFound, Unauthorized
from tests.api.callers import RECORDS, SEARCH, STATS, Caller, reason, record_path, user


@pytest.fixture
def owner(db):
    return user("ann")


def test_only_a_hash_is_kept(owner):
    made = keys.create(owner)
    secret = made.text.split("_", 2)[2]
    held = json.dumps(list(ApiKey.objects.values()), default=str)
    assert secret not in held
    assert made.text not in held
    assert made.key.digest == hashlib.sha256(made.text.encode()).hexdigest()
    assert made.text.startswith(f"gc_{made.key.prefix}_")


def test_keys_are_never_alike(owner):
    texts = {keys.create(owner).text for _ in range(50)}
    assert len(texts) == 50
    assert min(len(text.split("_", 2)[2]) for text in texts) >= 32


def test_found_by_its_whole_text_only(owner):
    made = keys.create(owner)
    assert keys.find(made.text) == made.key
    for wrong in (
        made.text[:-1],
        made.text + "x",
        made.text.upper(),
        f"gc_{made.key.prefix}_",
        f"gc_{made.key.prefix}",
        made.key.prefix,
        made.key.digest,
        f"gc_{made.key.prefix}_{made.key.digest}",
        "",
    ):
        with pytest.raises(Unauthorized):
            keys.find(wrong)


def test_wrong_secret_with_a_right_prefix_tells_no_more_than_a_wrong_key(owner):
    made = keys.create(owner)
    keys.revoke(made.key.prefix)

    def refused(text):
        with CaptureQueriesContext(connection) as queries:
            answer = Caller(text).get(STATS)
        return answer.status_code, answer.content, len(queries)

    assert refused(f"gc_{made.key.prefix}_wrong") == refused("gc_0000000000_wrong")
    assert refused("gc_0000000000_wrong")[0] == 401


def test_personal_key_acts_as_its_owner(owner):
    ann = Caller(keys.create(owner).text)
    written = ann.post(RECORDS, {"content": "mine"}).json()
    assert ann.get(record_path(written["id"])).json()["owner"] == owner.pk
    assert ann.get(record_path(written["id"])).json()["provenance"]["author"] == "ann"
    assert Caller(keys.create(user("bob")).text).listed() == []


def test_two_keys_of_a_person_see_the_same(owner):
    one, two = (Caller(keys.create(owner).text) for _ in range(2))
    memory_id = one.wrote("mine", scope="personal")
    assert one.listed() == two.listed() == [memory_id]


def test_read_only_key_reads_and_never_writes(owner):
    memory_id = Caller(keys.create(owner).text).wrote("zebra", scope="personal")
    reader = Caller(keys.create(owner, read_only=True).text)
    assert reader.listed() == [memory_id]
    assert reader.found("zebra") == [memory_id]
    assert reader.get(STATS).status_code == 200
    for answer in (
        reader.write("x", scope="personal"),
        reader.patch(record_path(memory_id), {"content": "x"}),
        reader.delete(record_path(memory_id)),
        reader.post(RECORDS + "bulk/", {"items": [{"content": "x"}]}),
    ):
        assert answer.status_code == 403
        assert "only read" in reason(answer)
    assert reader.listed() == [memory_id]


@pytest.mark.parametrize("name", ["expired", "revoked", "deactivated", "deleted"])
def test_ended_keys_are_401_and_say_why(owner, name):
    made = keys.create(owner, expires_at=timezone.now() + timedelta(hours=1))
    caller = Caller(made.text)
    assert caller.get(STATS).status_code == 200
    if name == "expired":
        ApiKey.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif name == "revoked":
        keys.revoke(made.key.prefix)
    elif name == "deactivated":
        owner.is_active = False
        owner.save()
    else:
        owner.delete()
    answer = caller.post(SEARCH, {"query": "x"})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert name in reason(answer) or name == "deleted"


def test_gateway_key_writes_agent_notes_and_has_no_person(db):
    gate = Caller(keys.create(None, gateway=True, label="bot").text)
    memory_id = gate.wrote("noted")
    assert gate.get(record_path(memory_id)).json()["owner"] is None
    assert gate.get(record_path(memory_id)).json()["provenance"]["author"] == "gateway bot"
    for scope in ("personal", "global", "agent_config", "wiki"):
        answer = gate.write("x", scope=scope)
        assert answer.status_code == 403
        assert reason(answer)
    assert gate.post(RECORDS, {"content": "to the default scope"}).status_code == 403
    assert gate.write("x", tags=["critical"]).status_code == 403


def test_gateway_key_reads_shared_scopes_alone(owner, db):
    Caller(keys.create(owner).text).wrote("ann's zebra", scope="personal")
    boss = Caller(keys.create(user("root", is_superuser=True)).text)
    boss.wrote("config zebra", scope="agent_config")
    shared = boss.wrote("shared zebra", scope="global")
    gate = Caller(keys.create(None, gateway=True).text)
    assert gate.listed(include_history="true") == [shared]
    assert gate.found("zebra", include_history=True) == [shared]
    assert gate.get(STATS).json()["records"] == 1


def test_use_is_noted_at_most_once_a_minute(owner):
    made = keys.create(owner)
    caller = Caller(made.text)
    assert made.key.last_used_at is None
    caller.get(STATS)
    first = ApiKey.objects.get().last_used_at
    assert first is not None
    for _ in range(3):
        with CaptureQueriesContext(connection) as queries:
            caller.get(STATS)
        assert not [q for q in queries if q["sql"].startswith(("UPDATE", "INSERT", "DELETE"))]
    assert ApiKey.objects.get().last_used_at == first
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=2))
    caller.get(STATS)
    assert ApiKey.objects.filter(last_used_at__gt=first).exists()


def test_refused_use_is_not_noted(owner):
    made = keys.create(owner)
    keys.revoke(made.key.prefix)
    Caller(made.text).get(STATS)
    assert ApiKey.objects.get().last_used_at is None


def test_key_is_for_a_person_or_for_the_organisation(owner):
    for wrong in ({"user": owner, "gateway": True}, {"user": None, "gateway": False}):
        with pytest.raises(InvalidInput):
            keys.create(**wrong)
    with pytest.raises(InvalidInput) as caught:
        keys.create(owner, expires_at=timezone.now())
    assert caught.value.field == "expires"


@pytest.mark.parametrize("label", ["x" * 101, "two\nlines", "\x00", "\ud800"])
def test_label_is_a_line(owner, label):
    with pytest.raises(InvalidInput) as caught:
        keys.create(owner, label=label)
    assert caught.value.field == "label"


def test_revoking_takes_prefix_or_text_and_is_done_once(owner):
    one, two = keys.create(owner), keys.create(owner)
    first = keys.revoke(one.key.prefix).revoked_at
    assert keys.revoke(f"gc_{one.key.prefix}").revoked_at == first
    assert keys.revoke(two.text).revoked_at is not None
    for unknown in ("", "nothing", "gc_", "gc__", "%"):
        with pytest.raises(NotFound):
            keys.revoke(unknown)
