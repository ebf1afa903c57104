"""The audit trail: everything that changes something is in it, nothing that people wrote is."""

import json
from types import SimpleNamespace

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from agents import keys
from memory import audit
from memory.access import Principal
from memory.drafts import Draft
from memory.models import AuditEvent
from memory.write import remember
from tests.agents.speaking import ANN, Gateway
from tests.api.callers import gateway, user

pytestmark = pytest.mark.django_db
CANARY = "the secret garden behind the old mill"


def trail(**fields) -> list[tuple[str, str, str, str]]:
    rows = AuditEvent.objects.filter(**fields).order_by("id")
    return [(row.actor, row.door, row.action, row.outcome) for row in rows]


def test_every_act_on_a_record_is_there_and_no_word_of_it(root, ann):
    mine = ann.wrote(CANARY, scope="personal", tags=[CANARY[:40]], domain=CANARY[:40])
    ann.patch(f"/api/memory/{mine}/", {"content": CANARY + "!", "metadata": {"x": CANARY}})
    ann.delete(f"/api/memory/{mine}/")
    ann.post("/api/memory/bulk/", {"items": [{"content": CANARY}, {"content": ""}]})
    ann.write(CANARY, scope="global")
    key = ann.key.split("_")[1]
    rows = list(AuditEvent.objects.filter(actor="ann").exclude(action="key.create").order_by("id"))
    assert [(row.action, row.outcome) for row in rows] == [
        ("write", "done"),
        ("amend", "done"),
        ("forget", "done"),
        ("write.many", "done"),
        ("write", "refused"),
    ]
    assert {row.key for row in rows} == {key}
    assert {row.door for row in rows} == {"api"}
    assert [row.subject for row in rows[:3]] == [f"record:{mine}"] * 3
    assert rows[3].facts == {"created": 1, "existing": 0, "amended": 0, "failed": 1}
    whole = json.dumps(list(AuditEvent.objects.values()), default=str)
    assert "garden" not in whole


def test_the_request_id_leads_to_the_log(ann):
    ann.post("/api/memory/", {"content": "x"}, headers={"X-Request-ID": "given-id-1"})
    assert AuditEvent.objects.get(action="write").request_id == "given-id-1"


def test_a_gateways_run_is_told_whole(root):
    gate = Gateway(gateway(label="bot").key, agent="helper", run_kind="cron")
    gate.write("x")
    event = AuditEvent.objects.get(action="write")
    assert (event.actor, event.agent, event.run_kind) == ("gateway bot", "helper", "cron")
    assert event.person is None
    Gateway(gate.key, on_behalf_of=ANN).write("x", scope="personal")
    event = AuditEvent.objects.filter(action="write").first()
    assert event is not None
    assert event.actor.startswith("discord-")
    assert event.key == gate.key.split("_")[1]


@pytest.mark.parametrize("fact", [CANARY, "a\nb", "x" * 65, "ünï", "<b>"])
def test_no_sentence_fits_in(fact):
    with pytest.raises(ValueError, match="no text"):
        audit.record(Principal(), "write", told=fact)
    with pytest.raises(ValueError, match="no text"):
        audit.record(Principal(), "write", fact)


def test_rows_are_added_and_read_nothing_else():
    audit.record(Principal(name="x"), "write")
    row = AuditEvent.objects.get()
    for act in (
        row.save,
        row.delete,
        AuditEvent.objects.all().delete,
        lambda: AuditEvent.objects.update(actor="y"),
    ):
        with pytest.raises(TypeError):
            act()


@pytest.mark.parametrize("event", ["update", "delete"])
def test_the_database_refuses_too(event):
    from importlib import import_module

    audit.record(Principal(name="x"), "write")
    migration = import_module("memory.migrations.0003_audit_trail")
    with connection.cursor() as cursor:
        editor = SimpleNamespace(connection=connection, execute=cursor.execute)
        migration.unseal(None, editor)
        migration.seal(None, editor)
    statement = {
        "update": "UPDATE audit_trail SET actor = 'y'",
        "delete": "DELETE FROM audit_trail",
    }[event]
    with (
        pytest.raises(DatabaseError, match="never"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert trail() == [("x", "api", "write", "done")]


def test_an_event_goes_with_its_transaction():
    ann = Principal(person=user("ann").pk, name="ann")
    with transaction.atomic():
        remember(ann, Draft("x"))
        transaction.set_rollback(True)
    assert trail() == []


def test_api_is_for_administrators_with_filters_and_pages(root, ann, nobody):
    for number in range(5):
        ann.wrote(f"number {number}", scope="personal")
    for path in ("/api/audit/", "/api/audit"):
        assert nobody.get(path).status_code == 401
        assert ann.get(path).status_code == 403
        assert root.get(path).status_code == 200
    page = root.get("/api/audit/", {"actor": "ann", "action": "write", "page_size": 2}).json()
    assert [row["actor"] for row in page["results"]] == ["ann", "ann"]
    seen = [row["id"] for row in page["results"]]
    while page["next"]:
        page = root.get(page["next"]).json()
        seen += [row["id"] for row in page["results"]]
    assert len(seen) == len(set(seen)) == 5
    assert root.get("/api/audit/", {"since": "2999-01-01"}).json()["results"] == []
    assert root.get("/api/audit/", {"since": "soon"}).status_code == 400
    assert root.get("/api/audit/", {"wer": "x"}).status_code == 400
    assert root.get("/api/audit/", {"cursor": "x"}).status_code == 400
    assert root.send("DELETE", "/api/audit/").status_code == 405


def test_keys_and_logins_are_there(db, settings):
    ann = user("ann")
    ann.set_password("correct horse battery")
    ann.save()
    made = keys.create(ann)
    keys.revoke(made.key.prefix)
    client = Client()
    for name, word in (("ann", "wrong"), ("my-passw0rd!", "x"), ("ann", "correct horse battery")):
        client.post("/login/", {"username": name, "password": word})
    client.post("/logout/")
    assert trail() == [
        ("server", "server", "key.create", "done"),
        ("server", "server", "key.revoke", "done"),
        ("ann", "browser", "login", "failed"),
        ("nobody", "browser", "login", "failed"),
        ("ann", "browser", "login", "done"),
        ("ann", "browser", "logout", "done"),
    ]
    whole = json.dumps(list(AuditEvent.objects.values()), default=str)
    assert "passw0rd" not in whole, "a password typed into the field for the name"
    assert made.text not in whole


def test_jobs_are_there(root):
    job = root.post("/api/memory/reindex/", {}).json()["job"]
    root.post(f"/api/jobs/{job}/cancel/")
    found = [
        (row.action, row.subject) for row in AuditEvent.objects.filter(key__gt="").order_by("id")
    ]
    assert found == [("job.start", f"job:{job}"), ("job.cancel", f"job:{job}")]


def test_what_is_done_in_djangos_admin_is_there(db):
    client = Client()
    client.force_login(user("root", is_superuser=True, is_staff=True))
    form = {"username": "made-there", "usable_password": "false"}
    assert client.post("/admin/auth/user/add/", form).status_code == 302
    (event,) = AuditEvent.objects.filter(action="admin.add")
    assert (event.actor, event.subject.split(":")[0]) == ("root", "user")
