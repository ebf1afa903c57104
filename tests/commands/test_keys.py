"""`keys create list revoke`."""

import pytest

from agents import keys
from agents.models import ApiKey
from goclaw_site.errors import InvalidInput, NotFound, Refused
from tests.api.callers import RECORDS, STATS, Caller, user


@pytest.fixture(autouse=True)
def _people(db):
    user("ann")


def test_created_key_works_and_is_printed_once(run):
    ran = run("keys", "create", "--user", "ann", "--json")
    assert set(ran.json) == {"key", "prefix"}
    assert ran.json["key"].startswith(f"gc_{ran.json['prefix']}_")
    assert Caller(ran.json["key"]).get(STATS).status_code == 200
    listed = run("keys", "list")
    assert ran.json["prefix"] in listed.out
    assert ran.json["key"] not in listed.out + run("keys", "list", "--json").out


def test_people_read_key_and_how_to_end_it(run):
    ran = run("keys", "create", "--user", "ann")
    key = ran.out.splitlines()[0]
    assert Caller(key).get(STATS).status_code == 200
    assert f"keys revoke {ApiKey.objects.get().prefix}" in ran.out


def test_kinds_of_keys(run):
    reader = run("keys", "create", "--user", "ann", "--read-only", "--json").json["key"]
    assert Caller(reader).post(RECORDS, {"content": "x"}).status_code == 403
    gate = run("keys", "create", "--gateway", "--label", "bot", "--json").json["key"]
    assert Caller(gate).write("x").status_code == 201
    assert Caller(gate).write("x", scope="personal").status_code == 403
    made = run("keys", "create", "--user", "ann", "--expires", "2099-01-31", "--json").json
    expiry = ApiKey.objects.get(prefix=made["prefix"]).expires_at
    assert str(expiry) == "2099-01-31 00:00:00+00:00"


def test_administrator_named_with_a_gateway_key_answers_for_it(run):
    user("root", is_superuser=True)
    made = run("keys", "create", "--user", "root", "--gateway", "--json").json
    key = ApiKey.objects.get(prefix=made["prefix"])
    assert (key.gateway, key.user, key.made_by) == (True, None, "root")


def test_list_tells_what_operators_need(run):
    assert "No keys" in run("keys", "list").out
    assert run("keys", "list", "--json").json == []
    made = run("keys", "create", "--user", "ann", "--read-only", "--label", "ci", "--json").json
    run("keys", "create", "--gateway")
    rows = {row["prefix"]: row for row in run("keys", "list", "--json").json}
    row = rows[made["prefix"]]
    assert (row["owner"], row["label"], row["read_only"], row["state"]) == (
        "ann",
        "ci",
        True,
        "active",
    )
    assert row["created_at"].endswith("Z")
    assert row["last_used_at"] is None
    assert sorted(row["owner"] for row in rows.values()) == ["ann", "gateway"]


def test_revoked_key_ends_at_once(run):
    made = keys.create(user("bob"))
    bob = Caller(made.text)
    assert bob.get(STATS).status_code == 200
    ran = run("keys", "revoke", made.key.prefix, "--json")
    assert ran.json["state"] == "revoked"
    assert bob.get(STATS).status_code == 401
    assert run("keys", "revoke", made.key.prefix).status == 0
    assert "revoked" in run("keys", "list").out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["create"], InvalidInput),
        (["create", "--user", "nobody"], InvalidInput),
        (["create", "--user", "ann", "--gateway"], Refused),
        (["create", "--user", "nobody", "--gateway"], InvalidInput),
        (["create", "--user", "ann", "--expires", "soon"], InvalidInput),
        (["create", "--user", "ann", "--expires", "2001-01-01"], InvalidInput),
        (["create", "--user", "ann", "--label", "x" * 101], InvalidInput),
        (["create", "--user", "ann", "--label", "\udcff"], InvalidInput),
        (["revoke", "0000000000"], NotFound),
        (["revoke", "\udcff"], InvalidInput),
    ],
)
def test_what_is_refused_makes_nothing(run, arguments, error):
    with pytest.raises(error):
        run("keys", *arguments)
    assert not ApiKey.objects.exists()
