"""What holds at every address of the API: slashes, methods, credentials, types of content."""

import re

import pytest
from django.test import Client
from django.urls import get_resolver

from agents import keys
from tests.api.callers import RECORDS, SEARCH, STATS, Caller, caller, reason, record_path, user

NOWHERE = "00000000-0000-4000-8000-000000000000"
#: A named group of a pattern, with at most one level of groups inside.
GROUP = re.compile(r"\(\?P<\w+>(?:[^()]|\([^()]*\))*\)")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


def addresses():
    """Every address below /api/, with an id where one is needed, without its slash."""
    return [
        "/" + GROUP.sub(NOWHERE, pattern).removesuffix("/?$")
        for pattern in _patterns(get_resolver())
        if pattern.startswith("api/")
    ]


def _patterns(resolver, prefix=""):
    for entry in resolver.url_patterns:
        here = prefix + str(entry.pattern).lstrip("^")
        if hasattr(entry, "url_patterns"):
            yield from _patterns(entry, here)
        else:
            yield here


def test_all_addresses_are_known():
    tails = {path.rsplit("/", 1)[-1] for path in addresses()}
    assert {"memory", "bulk", "search", "stats", "reindex", "jobs", "cancel", "schema"} <= tails


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", addresses())
def test_slash_makes_no_difference(root, nobody, path, method):
    if path == "/api/docs" and method not in ("GET", "HEAD"):
        pytest.skip("the viewer is a page, no part of the API")
    bare, slashed = (root.send(method, path + end, {}) for end in ("", "/"))
    assert bare.status_code == slashed.status_code
    assert bare.status_code not in (301, 302, 308, 500)
    assert bare.get("Content-Type") == slashed.get("Content-Type")
    for end in ("", "/"):
        stranger = nobody.send(method, path + end, {})
        assert stranger.status_code == (302 if path == "/api/docs" else 401)


def test_every_method_works_without_the_slash(root):
    created = root.post("/api/memory", {"content": "zebra", "scope": "agent_notes"})
    assert created.status_code == 201
    path = record_path(created.json()["id"]).rstrip("/")
    assert root.get(path).status_code == 200
    assert root.patch(path, {"domain": "zoo"}).json()["domain"] == "zoo"
    assert len(root.get("/api/memory").json()["results"]) == 1
    assert len(root.post("/api/memory/search", {"query": "zebra"}).json()["results"]) == 1
    assert len(root.get("/api/memory/search?q=zebra").json()["results"]) == 1
    assert root.post("/api/memory/bulk", {"items": [{"content": "x"}]}).status_code == 200
    assert root.get("/api/memory/stats").json()["records"] == 2
    assert root.post("/api/memory/reindex", {}).status_code == 202
    assert len(root.get("/api/jobs").json()["results"]) == 1
    assert root.delete(path).status_code == 204


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE"])
def test_other_methods_are_405(root, method):
    answer = root.send(method, RECORDS)
    assert answer.status_code == 405
    assert reason(answer)
    assert "GET" in answer["Allow"]


def test_head_is_a_get_without_a_body(root):
    answer = root.send("HEAD", RECORDS)
    assert (answer.status_code, answer.content) == (200, b"")


def test_unknown_addresses_are_404_as_json(root):
    answer = root.get("/api/memory/nothing/here/")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


GARBAGE = [
    "",
    "Bearer",
    "Bearer ",
    "Bearer gc_",
    "Bearer gc__",
    "bearer gc_0000000000_x",
    "Bearer gc_a_b_c_d",
    "Bearer \xff\xfe",
    "Bearer gc_\xe9\xe9\xe9_\xff",
    "Bearer " + "a" * 60_000,
    "Bearer gc_" + "a" * 60_000 + "_x",
    "Basic YWRtaW46YWRtaW4=",
    "Token x",
    "\x00",
    "Bearer null",
    "Bearer gc_0000000000_x gc_0000000000_x",
]


@pytest.mark.parametrize("header", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_for_a_key_is_401(nobody, header):
    answer = nobody.get(RECORDS, headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert reason(answer)


def test_scheme_may_be_written_in_any_case(ann):
    for scheme in ("bearer", "BEARER", "Bearer "):
        answer = Caller().get(RECORDS, headers={"Authorization": f"{scheme} {ann.key}"})
        assert answer.status_code == 200


@pytest.mark.parametrize("name", ["key", "api_key", "token", "authorization", "access_token"])
def test_key_in_an_address_does_nothing(ann, name):
    for value in (ann.key, f"Bearer {ann.key}"):
        assert Caller().get(STATS, {name: value}).status_code == 401
        assert Caller().post(STATS, {name: value}).status_code == 401


def test_wrong_key_is_refused_even_beside_a_session(ann):
    client = Client()
    client.force_login(ann.user)
    answer = client.get(STATS, headers={"Authorization": "Bearer gc_0000000000_x"})
    assert answer.status_code == 401


def test_session_reads_and_writes_with_its_token(db):
    client = Client(enforce_csrf_checks=True)
    client.force_login(user("ann"))
    assert client.get(STATS).status_code == 200
    body = {"content": "from the browser"}
    refused = client.post(RECORDS, body, content_type="application/json")
    assert refused.status_code == 403
    assert "CSRF" in reason(refused)
    wrong = {"X-CSRFToken": "x" * 64}
    assert client.post(RECORDS, body, "application/json", headers=wrong).status_code == 403
    client.cookies["csrftoken"] = "a" * 32
    token = {"X-CSRFToken": "a" * 32}
    written = client.post(RECORDS, body, content_type="application/json", headers=token)
    assert written.status_code == 201
    assert written.json()["scope"] == "personal"


def test_session_of_another_site_is_no_way_in(db):
    client = Client(enforce_csrf_checks=True)
    client.force_login(user("ann"))
    client.cookies["csrftoken"] = "a" * 32
    headers = {"X-CSRFToken": "a" * 32, "Origin": "https://evil.example"}
    answer = client.post(RECORDS, {"content": "x"}, "application/json", headers=headers)
    assert answer.status_code == 403


def test_no_answer_opens_the_api_to_other_sites(root):
    for method in ("GET", "OPTIONS"):
        answer = root.send(method, RECORDS, headers={"Origin": "https://evil.example"})
        assert "Access-Control-Allow-Origin" not in answer


def test_foreign_host_is_refused(ann):
    assert ann.get(STATS, headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    "content_type",
    [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "",
        "application/xml",
        "garbage",
        "a/b/c; d",
        "application/json-patch+json",
    ],
)
def test_other_types_of_content_are_415(ann, content_type):
    answer = ann.post(RECORDS, b"content=x", content_type=content_type)
    assert answer.status_code == 415
    assert reason(answer)


@pytest.mark.parametrize(
    "charset", ["utf-8", "latin-1", "rot13", "zlib", "idna", "utf-16", "undefined", "nonsense"]
)
def test_json_is_utf_8_whatever_the_charset_says(ann, charset):
    body = '{"content": "Grüße, 天気"}'.encode()
    answer = ann.post(RECORDS, body, content_type=f"application/json; charset={charset}")
    assert answer.status_code == 201
    assert ann.get(record_path(answer.json()["id"])).json()["content"] == "Grüße, 天気"


@pytest.mark.parametrize("accept", ["application/xml", "garbage", "image/png;q=1"])
def test_unknown_types_of_answers_are_406(ann, accept):
    assert ann.get(STATS, headers={"Accept": accept}).status_code == 406


@pytest.mark.parametrize("accept", ["*/*", "application/*", "application/json; indent=99999999"])
def test_json_is_what_one_gets(ann, accept):
    answer = ann.get(STATS, headers={"Accept": accept})
    assert answer["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("path", [RECORDS, SEARCH + "?q=zebra", STATS, "/api/jobs/"])
def test_browsers_get_a_page(root, path):
    root.wrote("<script>alert(1)</script> zebra")
    answer = root.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    assert b"<script>alert(1)" not in answer.content


def test_unknown_format_is_404(root):
    answer = root.get(RECORDS + "?format=xml")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_failures_of_keys_are_told_apart_in_words(db):
    made = keys.create(user("ann"))
    keys.revoke(made.key.prefix)
    assert "revoked" in reason(Caller(made.text).get(STATS))
    assert caller("bob").get(STATS).status_code == 200
