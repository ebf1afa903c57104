"""Credentials in what is written: flagged with words and a tag, never quoted, never slow."""

import time

import pytest

from memory import credentials
from memory.models import AuditEvent
from tests.agents.speaking import tags_of

HELD = {
    "the password is hunter2!x": "Password",
    "Passwort: Geheim#2024": "Password",
    "password for pay-gw-01 is S3cret99": "Password",
    "push with ghp_" + "a1B2" * 9: "GitHub",
    "AKIAIOSFODNN7EXAMPLE is ours": "AWS",
    "card 4111 1111 1111 1111": "Card",
    "https://bob:hunter2@db.example/": "Basic Auth",
    "-----BEGIN RSA PRIVATE KEY-----\nabc": "Private Key",
    "gc_0123456789_" + "x" * 32: "GoClaw",
    "api_key = 3f9a8c7e6d5b4a392817": "Secret",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN": "JSON web token",
    "npm_" + "a1" * 18: "npm",
}
PLAIN = [
    "the gateway is 10.0.0.5",
    "the password policy asks for twelve characters",
    "password rotation is due",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "record 3f2b8c1e-5f3a-4b1c-9d2e-1a2b3c4d5e6f at 1700000000000",
    "call +49 170 1234567 or 030 1234 5678",
    "4111 1111 1111 1112 has a wrong check digit",
    "0000 0000 0000 0000",
    "tokens are cut at 400 characters",
    "https://example.org/a/b?c=d",
]


@pytest.mark.parametrize("text", HELD)
def test_what_looks_like_one_is_named_by_kind(text):
    found = credentials.found(text)
    assert any(HELD[text] in kind for kind in found), found
    assert text[-12:] not in credentials.warning(found)


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_is_left_alone(text):
    assert credentials.found(text) == ()


@pytest.mark.parametrize(
    "part",
    ["a", "1", "password ", "eyJ", "://:@", "token: ", "gc_", " ", "sk_live_", "xoxb-1", "x="],
)
def test_crafted_text_takes_no_time(part):
    """Two hundred thousand characters, the longest record; the limit is generous."""
    text = "pass " + part * (200_000 // len(part))
    begin = time.perf_counter()
    credentials.found(text)
    assert time.perf_counter() - begin < 5


def test_a_write_warns_and_tags_and_keeps_the_text(root, ann):
    text = "the password is hunter2!x"
    answer = ann.post("/api/memory/", {"content": text, "tags": ["home"]})
    assert answer.status_code == 201
    (warning,) = answer.json()["warnings"]
    assert "Password" in warning
    assert "hunter2" not in answer.content.decode()
    record = answer.json()["id"]
    assert tags_of(ann, record) == ["credential", "home"]
    assert ann.get(f"/api/memory/{record}/").json()["content"] == text
    ann.patch(f"/api/memory/{record}/", {"tags": ["home"]})
    assert tags_of(ann, record) == ["home"], "a person knows better"
    assert not AuditEvent.objects.filter(facts__icontains="hunter2").exists()
    assert ann.post("/api/memory/", {"content": "plain"}).json()["warnings"] == []


def test_bulk_and_amendments_are_looked_at_too(ann):
    items = [{"content": "plain"}, {"content": "the password is hunter2!x"}]
    results = ann.post("/api/memory/bulk/", {"items": items}).json()["results"]
    assert [len(result["warnings"]) for result in results] == [0, 1]
    plain = results[0]["id"]
    ann.patch(f"/api/memory/{plain}/", {"content": "Passwort: Geheim#2024"})
    assert tags_of(ann, plain) == ["credential"]
