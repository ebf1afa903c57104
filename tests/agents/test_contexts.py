"""The gateway's context: parsed strictly, believed from gateways alone, no person in lone runs."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents import contexts
from agents.models import Identity
from memory.models import Memory
from tests.agents.speaking import ANN, BEA, Gateway, tags_of
from tests.api.callers import RECORDS, SEARCH, caller, gateway, reason

HEADER = "X-GoClaw-Context"


@pytest.fixture
def gate(db) -> Gateway:
    return Gateway(gateway().key)


@pytest.fixture
def for_ann(gate) -> Gateway:
    return gate.saying(on_behalf_of=ANN)


def test_a_context_is_read_whole():
    given = {"on_behalf_of": ANN, "agent": "helper", "run_kind": "chat", "session": "s1"}
    read = contexts.parse({**given, "shared": True, "confirmed": False})
    assert read.on_behalf_of == contexts.Speaker("discord", "1001", "Ann")
    assert (read.agent, read.session, read.shared, read.confirmed) == ("helper", "s1", True, False)
    assert contexts.parse({}) == contexts.CallContext()


WRONG = [
    ("[]", "X-GoClaw-Context"),
    ("", "X-GoClaw-Context"),
    ("{", "X-GoClaw-Context"),
    ("null", "X-GoClaw-Context"),
    ("[" * 8000, "X-GoClaw-Context"),
    (json.dumps({"agent": "a" * 9000}), "X-GoClaw-Context"),
    ('{"on_behalf_of": "ann"}', "on_behalf_of"),
    ('{"on_behalf_of": {}}', "channel"),
    ('{"on_behalf_of": {"channel": "d"}}', "external_id"),
    ('{"on_behalf_of": {"channel": "d", "external_id": ""}}', "external_id"),
    ('{"on_behalf_of": {"channel": "d", "external_id": "  "}}', "external_id"),
    ('{"on_behalf_of": {"channel": "d", "external_id": 7}}', "external_id"),
    ('{"on_behalf_of": {"channel": "", "external_id": "x"}}', "channel"),
    ('{"on_behalf_of": {"channel": "d", "external_id": "a\\u0000b"}}', "external_id"),
    ('{"on_behalf_of": {"channel": "d", "external_id": "\\ud800"}}', "external_id"),
    ('{"on_behalf_of": {"channel": "d", "external_id": "%s"}}' % ("x" * 501), "external_id"),
    ('{"on_behalf_of": {"channel": "d", "external_id": "x", "role": "admin"}}', "role"),
    ('{"run_kind": "daemon"}', "run_kind"),
    ('{"run_kind": ["chat"]}', "run_kind"),
    ('{"shared": "yes"}', "shared"),
    ('{"confirmed": 1}', "confirmed"),
    ('{"agent": 5}', "agent"),
    ('{"is_admin": true}', "is_admin"),
]


@pytest.mark.parametrize(("header", "field"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_context_is_400_and_names_the_field(gate, header, field):
    answer = gate.get(RECORDS, headers={HEADER: header})
    assert answer.status_code == 400
    assert field in answer.json()["field"]
    assert reason(answer)
    if header.startswith("{") and len(header) < 8000 and header != "{":
        in_body = gate.post(SEARCH, {"query": "x", "context": json.loads(header)})
        assert in_body.status_code == 400
        assert field in in_body.json()["field"]
    assert not Identity.objects.exists()


def test_bytes_that_are_no_utf_8_are_400(gate):
    answer = gate.get(RECORDS, headers={HEADER: '{"agent": "\xff"}'})
    assert answer.status_code == 400


def test_header_and_field_say_the_same_thing(gate):
    body = {"content": "likes tea", "context": {"on_behalf_of": ANN, "session": "s"}}
    by_field = gate.post(RECORDS, body)
    assert by_field.status_code == 201, by_field.content
    by_header = gate.saying(on_behalf_of=ANN).post(RECORDS, {"content": "likes tea"})
    assert (by_header.status_code, by_header.json()["id"]) == (200, by_field.json()["id"])
    provenance = Memory.objects.get().metadata["provenance"]
    assert provenance["session"] == "s"


def test_both_at_once_are_400(for_ann):
    answer = for_ann.post(RECORDS, {"content": "x", "context": {"on_behalf_of": BEA}})
    assert answer.status_code == 400
    assert "Both" in reason(answer)
    assert not Identity.objects.exists()


@pytest.mark.parametrize("name", ["Ёлка 🎄", "<b>x</b>", 'O\'Brien "q"', "名前"])
def test_header_may_be_escaped_or_raw_utf_8(gate, name):
    speaker = {**ANN, "display_name": name}
    raw = json.dumps({"on_behalf_of": speaker}, ensure_ascii=False).encode().decode("latin-1")
    assert gate.get(RECORDS, headers={HEADER: raw}).status_code == 200
    assert gate.saying(on_behalf_of=speaker).get(RECORDS).status_code == 200
    assert Identity.objects.get().display_name == name


def test_a_personal_key_names_nobody_not_even_its_owner(db):
    ann = caller("ann")
    for speaker in (ANN, {"channel": "goclaw", "external_id": "ann"}):
        for answer in (
            ann.get(RECORDS, headers={HEADER: json.dumps({"on_behalf_of": speaker})}),
            ann.post(RECORDS, {"content": "x", "context": {"on_behalf_of": speaker}}),
        ):
            assert answer.status_code == 403
            assert "gateway" in reason(answer)
    assert not Memory.objects.exists()
    assert not Identity.objects.exists()


@pytest.mark.parametrize("kind", ["sop", "cron", "webhook"])
def test_a_personal_key_runs_nothing_alone(db, kind):
    """An autonomous run may write notes that its owner may not."""
    answer = caller("ann").post(
        RECORDS, {"content": "x", "scope": "agent_notes", "context": {"run_kind": kind}}
    )
    assert answer.status_code == 403
    assert not Memory.objects.exists()


def test_a_personal_key_may_say_agent_and_conversation(db):
    ann = caller("ann")
    context = {"agent": "helper", "session": "s1", "shared": True, "run_kind": "chat"}
    assert ann.post(RECORDS, {"content": "x", "context": context}).status_code == 201
    record = Memory.objects.get()
    assert record.agent == "helper"
    assert record.metadata["provenance"]["session"] == "s1"


def test_a_session_names_nobody_either(db):
    client = Client()
    client.force_login(User.objects.create(username="ann"))
    header = {HEADER: json.dumps({"on_behalf_of": ANN})}
    assert client.get(RECORDS, headers=header).status_code == 403
    kind = {HEADER: json.dumps({"run_kind": "cron"})}
    assert client.get(RECORDS, headers=kind).status_code == 403
    assert client.get(RECORDS, headers={HEADER: "{"}).status_code == 400


@pytest.mark.parametrize("kind", ["sop", "cron", "webhook"])
def test_autonomous_runs_have_no_person_even_when_one_is_named(for_ann, kind):
    mine = for_ann.post(RECORDS, {"content": "ann likes tea"}).json()["id"]
    run = for_ann.saying(run_kind=kind)
    assert run.get(f"/api/memory/{mine}/").status_code == 404
    assert run.listed() == []
    assert run.found("tea") == []
    for scope in ("personal", "global", "agent_config"):
        refused = run.write("x", scope=scope)
        assert refused.status_code == 403
        assert "agent_notes" in reason(refused)
    assert run.write("x", scope="agent_notes").status_code == 201
    assert run.saying(on_behalf_of=BEA).listed(scope="personal") == []
    assert Identity.objects.count() == 1, "a run makes no people"


def test_an_administrators_cron_run_has_no_rights(gate, db):
    boss = caller("boss", groups=("admin",))
    from agents import identities
    from agents.principals import for_browser

    identity = identities.resolve(contexts.parse({"on_behalf_of": ANN}).on_behalf_of)
    assert identity is not None
    assert boss.user is not None
    identities.link(for_browser(boss.user), identity.pk, boss.user)
    chat = gate.saying(on_behalf_of=ANN)
    note = chat.wrote("standing", scope="agent_config")
    cron = chat.saying(run_kind="cron")
    assert cron.get(f"/api/memory/{note}/").status_code == 404
    assert cron.write("x", scope="global").status_code == 403
    assert cron.write("x", scope="agent_notes", tags=["critical"]).status_code == 403
    assert cron.post("/api/memory/reindex/", {}).status_code == 403
    assert cron.get("/api/audit/").status_code == 403


def test_a_regular_person_writes_no_notes_through_a_gateway(for_ann):
    for scope in ("agent_notes", "global", "agent_config"):
        refused = for_ann.write("x", scope=scope)
        assert refused.status_code == 403
        assert "'personal'" in reason(refused)
    assert for_ann.write("x", scope="personal").status_code == 201


def test_a_gateway_that_names_nobody_writes_notes_alone(gate):
    assert gate.write("x", scope="agent_notes").status_code == 201
    refused = gate.write("x", scope="personal")
    assert refused.status_code == 403


def test_a_shared_conversation_holds_the_speakers_records_alone(gate):
    talk = {"shared": True, "session": "channel-7"}
    ann, bea = (gate.saying(on_behalf_of=who, **talk) for who in (ANN, BEA))
    anns, beas = ann.wrote("ann owes tea", scope="personal"), bea.wrote("bea tea", scope="personal")
    assert ann.listed() == [anns]
    assert bea.listed() == [beas]
    assert gate.saying(**talk).listed() == []
    record = Memory.objects.get(pk=anns)
    assert (record.scope, record.owner_id) == (
        "personal",
        Identity.objects.get(external_id="1001").person_id,
    )


def test_unconfirmed_sessions_are_marked_and_confirmed_ones_lift_it(for_ann):
    memory_id = for_ann.wrote("ann likes tea", scope="personal")
    assert tags_of(for_ann, memory_id) == ["unverified"]
    again = for_ann.saying(confirmed=True)
    assert again.wrote("ann likes tea", scope="personal") == memory_id
    assert tags_of(for_ann, memory_id) == []
    doubted = for_ann.saying(confirmed=False).wrote("ann hates tea", scope="personal")
    assert tags_of(for_ann, doubted) == ["unverified"]


def test_a_read_only_gateway_makes_no_people(db):
    gate = Gateway(gateway(read_only=True).key, on_behalf_of=ANN)
    assert gate.get(RECORDS).status_code == 200
    assert not Identity.objects.exists()
    assert gate.write("x", scope="personal").status_code == 403
