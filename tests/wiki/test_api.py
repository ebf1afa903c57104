"""The wiki over HTTP, as programs and agents use it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from urllib.parse import quote

import pytest

from tests.api.callers import Caller, caller, gateway, reason, user
from tests.wiki.making import CHIEF, write
from wiki.edits import MAX_BODY
from wiki.models import WikiPage

pytestmark = pytest.mark.django_db

WIKI = "/api/memory/wiki/"
CRON = {"X-GoClaw-Context": '{"run_kind": "cron"}'}
WEBHOOK = {"X-GoClaw-Context": '{"run_kind": "webhook"}'}


def page(slug: str) -> str:
    return f"{WIKI}pages/{quote(slug)}/"


@pytest.fixture
def root() -> Caller:
    return caller("root", is_superuser=True)


@pytest.fixture
def ann() -> Caller:
    return caller("ann")


@pytest.fixture
def gate() -> Caller:
    return gateway()


def put(who: Caller, slug: str, body: str, base: int | None = None, **fields):
    headers = fields.pop("headers", {})
    return who.send("PUT", page(slug), {"body": body, "base_revision": base, **fields},
                    headers=headers)  # fmt: skip


def test_a_page_is_made_read_saved_and_deleted(root, ann):
    made = put(root, "Team/数据", "# Data\n\ntext", tags=["b", "a"], comment="first")
    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["slug"], told["title"], told["revision"]) == ("team/数据", "Data", 1)
    assert (told["tags"], told["outcome"], told["author_kind"]) == (["a", "b"], "created", "agent")
    assert "text" in told["html"]
    read = ann.get(page("team/数据")).json()
    assert {"slug", "title", "body", "html", "revision", "tags"} <= set(read)
    assert read["body"] == "# Data\n\ntext"
    saved = put(root, "team/数据", "# Data\n\nmore", 1)
    assert (saved.status_code, saved.json()["revision"]) == (200, 2)
    assert put(root, "team/数据", "# Data\n\nmore", 2).json()["outcome"] == "unchanged"
    assert ann.get(page("team/数据"), {"revision": 1}).json()["body"] == "# Data\n\ntext"
    assert ann.get(page("team/数据"), {"revision": 9}).status_code == 404
    assert root.delete(page("team/数据")).status_code == 204
    assert ann.get(page("team/数据")).status_code == 404
    assert root.delete(page("team/数据")).status_code == 404


@pytest.mark.parametrize(
    "path", ["pages/a/b", "history", "tree", "recent", "review", "search", "attachments", ""]
)
def test_paths_answer_with_and_without_their_slash(root, path):
    put(root, "a/b", "text")
    query = {"history": "?slug=a/b", "search": "?q=text"}.get(path, "")
    bare = root.get(f"{WIKI}{path}".rstrip("/") + query)
    assert (
        bare.status_code == root.get(f"{WIKI}{path}/".replace("//", "/") + query).status_code == 200
    )
    assert bare.json()


def test_a_stale_save_gets_all_three_texts(root):
    put(root, "p", "one\ntwo\nthree\n")
    put(root, "p", "ONE\ntwo\nthree\n", 1)
    late = put(root, "p", "one\ntwo\nTHREE\n", 1)
    told = late.json()
    assert (late.status_code, told["code"], told["revision"]) == (409, "conflict", 2)
    assert (told["mine"], told["theirs"], told["base"]) == (
        "one\ntwo\nTHREE\n", "ONE\ntwo\nthree\n", "one\ntwo\nthree\n"
    )  # fmt: skip
    assert "lost" in reason(late)


def test_a_new_page_over_an_old_one_is_a_conflict(root):
    put(root, "p", "text")
    assert put(root, "p", "other").status_code == 409
    assert root.post(WIKI, {"slug": "p", "body": "other"}).status_code == 409


def test_a_title_gives_a_slug(root):
    made = root.post(WIKI, {"title": "On-call: who?", "body": "text"})
    assert (made.status_code, made.json()["slug"]) == (201, "on-call-who")
    again = root.post(WIKI, {"title": "On-call: who?", "body": "text"})
    assert again.json()["slug"] == "on-call-who-2"


def test_who_may_save_with_a_key(root, ann, gate):
    assert put(root, "a", "text").status_code == 201
    assert put(gate, "b", "text", headers=CRON).status_code == 201
    for who, headers in ((ann, {}), (gate, {}), (gate, WEBHOOK)):
        refused = put(who, "c", "text", headers=headers)
        assert refused.status_code == 403, headers
        assert len(reason(refused)) > 40
    assert (
        caller("reader", read_only=True, is_superuser=True)
        .send("PUT", page("c"), {"body": "x"})
        .status_code
        == 403
    )
    assert Caller().get(page("a")).status_code == 401
    assert not WikiPage.objects.filter(slug="c").exists()


def test_a_login_saves_as_a_person(client):
    client.force_login(user("eve"))
    made = client.put(page("p"), {"body": "text"}, content_type="application/json")
    assert (made.status_code, made.json()["author_kind"], made.json()["waits"]) == (
        201,
        "human",
        False,
    )


@pytest.mark.parametrize(
    ("slug", "status"),
    [("..", 400), ("a/../b", 400), ("a b", 400), ("x" * 201, 400), ("wikijs/a", 400),
     ("a%00", 400), ("a//b", 400), ("%", 400), ("pаypal", 400), ("a%0Ab", 400), ("a%0A", 400)],
)  # fmt: skip
def test_names_that_are_none_are_refused_with_words(root, slug, status):
    answer = root.send(
        "PUT", f"{WIKI}pages/{quote(slug, safe='/%') if slug != '%' else '%25'}/", {"body": "x"}
    )
    assert answer.status_code == status
    assert answer.json()["field"] == "slug"
    assert not WikiPage.objects.exists()


@pytest.mark.parametrize(
    "slug",
    ["history", "pages", "search", "attachments/x", "api/memory/wiki", "review", "p.json", "admin"],
)
def test_names_of_routes_are_pages_like_any_other(root, slug):
    assert put(root, slug, "text").status_code == 201
    assert root.get(page(slug)).json()["slug"] == slug


def test_bodies_that_are_wrong_name_field_and_limit(root):
    wrong = [
        {"body": "x" * (MAX_BODY + 1)}, {"body": 7}, {"body": "x", "tags": "a"},
        {"body": "x", "base_revision": "two"}, {"body": "x", "titel": "typo"}, {},
        {"body": "a\x00b"}, {"body": "x", "title": "two\nlines"},
        {"body": "x", "base_revision": -1},
        {"body": "x", "tags": [""] * 3}, {"body": "x", "comment": "c" * 501},
    ]  # fmt: skip
    for body in wrong:
        answer = root.send("PUT", page("p"), body)
        assert answer.status_code in (400, 413), body
        assert answer.json()
    assert root.send("PUT", page("p"), b"{not json").status_code == 400
    assert root.send("PUT", page("p"), b"[]").status_code == 400
    assert not WikiPage.objects.exists()


def test_numbers_beyond_every_database_are_no_failure(root):
    huge = 10**30
    assert put(root, "p", "text", huge).status_code == 400
    assert put(root, "p", "text", 7).json()["revision"] == 1, "a page that never was is new"
    for path, body in (
        ("restore", {"slug": "p", "revision": huge}),
        ("restore", {"slug": "p", "revision": -huge}),
        ("review", {"slug": "p", "revision": huge, "decision": "accept"}),
        ("review", {"slug": "p", "revision": -huge, "decision": "accept"}),
    ):
        assert root.post(f"{WIKI}{path}/", body).status_code in (200, 400, 404, 409), body
    for query in ("revision", "from", "to"):
        path = "pages/p/" if query == "revision" else "diff/"
        given = {query: huge} | ({"slug": "p"} if path == "diff/" else {})
        assert root.get(f"{WIKI}{path}", given).status_code == 400


def test_lists_are_narrowed_and_paged(root):
    for number in range(5):
        put(root, f"team/p{number}", f"text {number}", tags=["net"] if number % 2 else [])
    put(root, "other", "text", title="Team matters")
    assert len(root.get(WIKI).json()["results"]) == 6
    slugs = lambda **given: [row["slug"] for row in root.get(WIKI, given).json()["results"]]  # noqa: E731
    assert slugs(prefix="team/", page_size=2) == ["team/p4", "team/p3"]
    assert slugs(tag="net") == slugs(tags="net") == ["team/p3", "team/p1"]
    assert slugs(tag="net", tags="none such") == slugs(tags=["net", "none such"]) == []
    assert set(slugs(q="TEAM")) == {f"team/p{n}" for n in range(5)} | {"other"}
    assert len(slugs(review="true")) == 6
    assert root.get(WIKI, {"reveiw": "1"}).status_code == 400
    assert root.get(WIKI, {"review": "maybe"}).status_code == 400
    first = root.get(WIKI, {"page_size": 4}).json()
    assert len(root.get(first["next"].partition("testserver")[2]).json()["results"]) == 2
    assert root.get(WIKI, {"cursor": "x"}).status_code == 400


def test_history_restore_and_recent_changes(root):
    put(root, "p", "first")
    put(root, "p", "second", 1)
    rows = root.get(f"{WIKI}history/", {"slug": "p"}).json()["results"]
    assert [row["revision"] for row in rows] == [2, 1]
    assert "body" not in rows[0]
    restored = root.post(f"{WIKI}restore/", {"slug": "p", "revision": 1})
    assert (restored.status_code, restored.json()["body"]) == (200, "first")
    assert root.post(f"{WIKI}restore/", {"slug": "p", "revision": 99}).status_code == 404
    assert root.get(f"{WIKI}recent/").json()["results"][0]["comment"] == "Restored revision 1"
    assert root.get(f"{WIKI}history/").status_code == 400
    assert root.get(f"{WIKI}history/", {"slug": "nothing"}).status_code == 404


def test_diffs(root):
    put(root, "p", "one two three\nsame\n", title="Before", tags=["x"])
    put(root, "p", "one 2 three\nsame\nnew <b>\n", 1, title="After")
    told = root.get(f"{WIKI}diff/", {"slug": "p", "from": 1, "to": 2}).json()
    assert (told["added"], told["removed"], told["titles"]) == (2, 1, ["Before", "After"])
    changed = next(row for row in told["rows"] if row["kind"] == "changed")
    assert {"kind": "del", "text": "two"} in changed["pieces"]
    assert {"kind": "ins", "text": "2"} in changed["pieces"]
    assert told["unified"].startswith("--- p@1\n+++ p@2\n")
    assert root.get(f"{WIKI}diff/", {"slug": "p"}).json()["old"] == 1, "the newest change"
    assert root.get(f"{WIKI}diff/", {"slug": "p", "from": 0, "to": 1}).json()["removed"] == 0
    assert root.get(f"{WIKI}diff/", {"slug": "p", "from": 1, "to": 9}).status_code == 404
    assert root.get(f"{WIKI}diff/", {"slug": "p", "from": "x"}).status_code == 400
    assert root.get(f"{WIKI}diff/").status_code == 400


def test_html_is_safe_and_knows_what_is_missing(root):
    put(root, "there", "x")
    body = "# Top <script>\n\n<img src=x onerror=alert(1)>[[there]] [[not there]]"
    html = put(root, "p", body).json()["html"]
    assert "<script" not in html
    assert "onerror" not in html
    assert 'href="/wiki/p/there"' in html
    assert 'href="/wiki/p/not-there?view=edit"' in html
    put(root, "not-there", "x")
    assert "?view=edit" not in root.get(page("p")).json()["html"]
    assert root.get(page("p")).json()["contents"][0]["level"] == 1
    assert "<script" not in root.get(page("p"), {"revision": 1}).json()["html"]


def test_moving_leaves_a_name_that_leads_on(root, ann):
    put(root, "old", "text")
    moved = root.post(f"{WIKI}move/", {"slug": "old", "to": "new/name"})
    assert (moved.status_code, moved.json()["slug"]) == (200, "new/name")
    read = ann.get(page("old")).json()
    assert (read["slug"], read["moved_from"], read["body"]) == ("new/name", "old", "text")
    assert ann.post(f"{WIKI}move/", {"slug": "new/name", "to": "x"}).status_code == 403
    put(root, "other", "text")
    assert root.post(f"{WIKI}move/", {"slug": "other", "to": "new/name"}).status_code == 409


def test_reviewing(root, gate, ann):
    write(CHIEF, "p", "by a person")
    put(gate, "p", "by an agent", 1, headers=CRON)
    queue = root.get(f"{WIKI}review/").json()["results"]
    assert [row["slug"] for row in queue] == ["p"]
    body = {"slug": "p", "revision": 2, "decision": "reject"}
    assert ann.post(f"{WIKI}review/", body).status_code == 403
    assert gate.post(f"{WIKI}review/", body, headers=CRON).status_code == 403
    assert root.post(f"{WIKI}review/", body).json() == {
        "slug": "p", "settled": 1, "revision": 3, "deleted": False
    }  # fmt: skip
    assert root.get(page("p")).json()["body"] == "by a person"
    assert root.post(f"{WIKI}review/", body).status_code == 409
    assert root.post(f"{WIKI}review/", body | {"decision": "maybe"}).status_code == 400


def test_searching_pages(root, ann):
    put(root, "net/gw", "# Gateways\n\n## Berlin\n\nThe zqgateway is <b>pay</b>.")
    hits = ann.get(f"{WIKI}search/", {"q": "zqgateway"}).json()
    assert [hit["slug"] for hit in hits["results"]] == ["net/gw"]
    assert "<mark>" in hits["results"][0]["snippet"]
    assert "<b>" not in hits["results"][0]["snippet"]
    assert ann.get(f"{WIKI}search/").status_code == 400
    for query in ('"', "NEAR(", "a* AND", "'; DROP TABLE", "😀", "-", "x" * 5000):
        assert ann.get(f"{WIKI}search/", {"q": query}).status_code == 200, query
    assert ann.get(f"{WIKI}search/", {"q": "x", "max_results": "0"}).status_code == 400
    found = ann.post("/api/memory/search/", {"query": "zqgateway", "scopes": ["wiki"]}).json()
    assert len(found["results"]) == 1


def test_the_tree(root):
    put(root, "a/b", "text")
    assert root.get(f"{WIKI}tree/").json() == [
        {"slug": "a", "name": "a", "title": "", "exists": False, "below": [
            {"slug": "a/b", "name": "b", "title": "b", "exists": True, "below": []}]}
    ]  # fmt: skip


def test_the_feed_is_atom_whatever_people_wrote(root):
    put(
        root,
        "p",
        "text",
        title="<script>x</script> & \x07 co",
        comment="a ]]> <img src=x onerror=y>\x1b",
    )
    answer = root.get(f"{WIKI}feed/", headers={"Accept": "application/atom+xml"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/atom+xml")
    feed = ET.fromstring(answer.content)
    titles = [node.text for node in feed.iter("{http://www.w3.org/2005/Atom}title")]
    assert titles[1].startswith("<script>x</script> & \ufffd co: created by an agent")
    summary = feed.find(".//{http://www.w3.org/2005/Atom}summary")
    assert summary.get("type") == "html"
    assert summary.text == "a ]]&gt; &lt;img src=x onerror=y&gt;\ufffd"
    assert Caller().get(f"{WIKI}feed/").status_code == 401


def test_odd_slugs_survive_the_address(root):
    for slug in ("v1.2_beta-x", "データ/辞書", "überblick", "नेटवर्क", "a.b/..c", "…".encode().hex()):
        assert put(root, slug, "text").json()["slug"] == slug
        assert root.get(page(slug)).json()["slug"] == slug


def test_reads_of_the_api_take_few_queries(root, django_assert_max_num_queries):
    for number in range(12):
        put(root, f"p{number}", f"text {number} [[p0]]", tags=["x"])
    for path in ("", "recent/", "tree/", "review/", "pages/p3/", "history/?slug=p3"):
        with django_assert_max_num_queries(8):
            assert root.get(f"{WIKI}{path}").status_code == 200
