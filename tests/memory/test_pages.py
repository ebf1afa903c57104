"""The pages without a browser: fragments, headers, counts of queries, hostile text, forms."""

import json
import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory import write
from memory.access import Principal
from memory.drafts import Changes, Draft, Source
from memory.models import Memory, MemoryRevision
from memory.pages import paging
from memory.pages.paging import Cursor
from tests.memory.making import index_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("keyword_only")]
SWAP = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _no_cached_report():
    cache.clear()


def signed_in(name: str, **fields) -> tuple[Client, Principal]:
    user, _ = User.objects.get_or_create(username=name, defaults=fields)
    client = Client()
    client.force_login(user)
    admin = user.is_superuser
    return client, Principal(person=user.pk, name=name, is_admin=admin, door="browser")


@pytest.fixture
def root():
    return signed_in("root", is_superuser=True, is_staff=True)


@pytest.fixture
def ann_in():
    return signed_in("ann")


def put(principal: Principal, content: str, scope: str = "agent_notes", **fields) -> Memory:
    return write.remember(principal, Draft(content, scope=scope, **fields)).memory


def body(response):
    return response.content.decode()


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, pattern
    return match[match.lastindex or 0]


def saying(page: str) -> str:
    """The text of the record that a page shows, as a person reads it."""
    import html

    return html.unescape(found(r'<div class="saying[^>]*>((?s:.)*?)</div>', page))


class TestDoor:
    @pytest.mark.parametrize(
        "path", ["/", "/me/", "/memory/add/", "/me/export/", "/components/", "/me/delete/"]
    )
    def test_strangers_are_sent_to_the_login_page_and_back(self, client, path):
        response = client.get(path)
        assert response.status_code == 302
        assert response["Location"] == f"/login/?next={path}"

    def test_a_swap_without_a_session_is_a_401_and_says_so(self, client):
        response = client.get("/?q=x", headers=SWAP)
        assert response.status_code == 401
        assert "session has ended" in body(response)

    def test_what_a_form_posted_after_the_session_ended_is_shown_again(self, client):
        response = client.post("/memory/add/", {"content": "typed for an hour <b>"})
        assert response.status_code == 401
        assert "typed for an hour &lt;b&gt;" in body(response)

    def test_components_are_for_administrators(self, ann_in, root):
        assert ann_in[0].get("/components/").status_code == 403
        assert root[0].get("/components/").status_code == 200


class TestFragments:
    def test_a_swap_gets_a_part_and_everybody_else_the_whole(self, root):
        put(root[1], "something")
        whole, part = root[0].get("/"), root[0].get("/", headers=SWAP)
        assert "<html" in body(whole)
        assert "<html" not in body(part)
        assert "something" in body(part)

    def test_a_restored_history_entry_gets_the_whole(self, root):
        headers = {**SWAP, "HX-History-Restore-Request": "true"}
        assert "<html" in body(root[0].get("/", headers=headers))

    @pytest.mark.parametrize("path", ["/", "/me/", "/memory/add/", "/me/export/"])
    def test_nothing_private_is_kept_by_caches(self, root, path):
        response = root[0].get(path)
        assert "HX-Request" in response["Vary"]
        assert "no-store" in response["Cache-Control"]
        assert "private" in response["Cache-Control"]

    def test_a_failure_in_a_swap_is_a_fragment_with_the_request_id(self, root):
        response = root[0].get("/?colour=red", headers={**SWAP, "X-Request-ID": "abc-1"})
        assert response.status_code == 400
        assert "<html" not in body(response)
        assert "abc-1" in body(response)

    def test_the_policy_forbids_inline_code_outside_the_admin(self, root):
        policy = root[0].get("/")["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "'unsafe-eval'" in root[0].get("/admin/")["Content-Security-Policy"]
        assert "unsafe-eval" not in root[0].get("/api/docs/")["Content-Security-Policy"]

    @pytest.mark.parametrize("path", ["/", "/?q=gateway", "/me/", "/memory/add/", "/components/"])
    def test_pages_hold_no_inline_style_script_or_handler(self, root, path):
        put(root[1], "the gateway")
        text = body(root[0].get(path))
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|hx-on", text)
        assert not re.search(r'(?:src|href|action)="https?:', text)


class TestLists:
    def test_every_record_is_on_exactly_one_page(self, root):
        client, principal = root
        for number in range(95):
            put(principal, f"record {number}", "personal" if number % 3 else "global")
        # Equal times are what breaks a cursor.
        Memory.objects.update(updated_at=timezone.now())
        seen, path = [], "/"
        while path:
            page = body(client.get(path))
            seen += re.findall(r'name="ids" value="([^"]+)"', page)
            more = re.search(r'rel="next" href="([^"]+)"', page)
            path = more[1].replace("&amp;", "&") if more else ""
        assert len(seen) == len(set(seen)) == 95

    def test_the_next_rows_come_alone(self, root):
        for number in range(paging.PAGE + 1):
            put(root[1], f"record {number}")
        first = body(root[0].get("/"))
        path = found(r'rel="next" href="([^"]+)"', first)
        rows = body(root[0].get(path, headers=SWAP))
        assert rows.count('name="ids"') == 1
        assert "facet" not in rows

    @pytest.mark.parametrize("cursor", ["x", "eA==", "%00", "2026", "é"])
    def test_a_place_that_does_not_exist_is_said(self, root, cursor):
        assert root[0].get("/", {"cursor": cursor}).status_code == 400

    def test_a_cursor_reads_what_it_writes(self):
        cursor = Cursor(timezone.now(), Memory().pk)
        assert Cursor.read(str(cursor)) == cursor

    @pytest.mark.parametrize(
        "query",
        ["colour=red", "scope=attic", "n=x", "record=x", "since=soon", "domain=a&domain=b"],
    )
    def test_a_wrong_filter_is_an_error_with_a_way_out(self, root, query):
        response = root[0].get(f"/?{query}")
        assert response.status_code == 400
        assert "Go to memory" in body(response)

    def test_empty_parameters_of_a_form_are_no_filters(self, root):
        put(root[1], "here")
        assert "here" in body(root[0].get("/?q=&domain=&since=&tag="))

    @pytest.mark.parametrize("query", ['"', "AND NEAR(", "*" * 500, "\x00", "💥", "x" * 4_000])
    def test_any_query_is_answered(self, root, query):
        assert root[0].get("/", {"q": query}).status_code == 200

    def test_filters_narrow_and_stand_in_the_address(self, root):
        put(root[1], "about hosts", domain="network", tags=("rack",))
        put(root[1], "about people", domain="people")
        page = body(root[0].get("/?domain=network&tag=rack"))
        assert "about hosts" in page
        assert "about people" not in page
        assert "/?domain=network" in page  # the link that takes the tag away

    def test_counts_of_a_filter_hold_under_the_others(self, root):
        for number in range(3):
            put(root[1], f"host {number}", domain="network", kind="fact")
        put(root[1], "person", domain="people", kind="note")
        page = body(root[0].get("/?kind=fact"))
        assert re.search(r'>network</span><span class="count">3<', page)
        assert ">people</span>" not in page

    def test_history_is_left_out_until_it_is_asked_for(self, root):
        old, new = put(root[1], "gateway is 5"), put(root[1], "gateway is 7")
        write.retire(old, new, via="rule", reason="another value", actor="rule")
        assert ">gateway is 5</a>" not in body(root[0].get("/"))
        assert ">gateway is 5</a>" in body(root[0].get("/?include_history=true"))
        assert "superseded" in body(root[0].get("/?include_history=true"))

    @pytest.mark.parametrize("path", ["/", "/me/", "/?q=record", "/?tag=t", "/me/?q=record"])
    def test_the_number_of_queries_does_not_grow(self, root, path):
        client, principal = root
        scope = "personal"

        def fill(start: int) -> None:
            for number in range(start, start + 12):
                put(principal, f"record {number}", scope, tags=("t", f"t{number}"))
            index_all()

        def queries() -> int:
            client.get(path)
            with CaptureQueriesContext(connection) as caught:
                client.get(path)
            return len(caught)

        fill(0)
        few = queries()
        fill(12)
        assert queries() == few


class TestPrivacy:
    def test_nobody_finds_another_persons_record(self, root, ann_in):
        mine = put(ann_in[1], "ann's own peanut allergy", "personal")
        for path in ("/", "/?q=peanut", "/me/", "/me/?q=peanut", "/?scope=personal"):
            assert "peanut allergy" not in body(root[0].get(path))
        for path in ("", "amend/", "delete/"):
            assert root[0].get(f"/memory/{mine.pk}/{path}").status_code == 404
        assert root[0].get(f"/?record={mine.pk}").status_code == 404
        assert b"peanut" not in b"".join(root[0].get("/me/export/").streaming_content)

    def test_nobody_changes_it_either(self, root, ann_in):
        mine = put(ann_in[1], "ann's own", "personal")
        write.amend(ann_in[1], mine.pk, Changes(content="ann's newer"))
        revision = MemoryRevision.objects.get()
        client = root[0]
        assert client.post(f"/memory/{mine.pk}/amend/", {"content": "x"}).status_code == 404
        assert client.post(f"/memory/{mine.pk}/undo/{revision.pk}/").status_code == 404
        client.post(f"/memory/{mine.pk}/delete/")
        data = {"action": "delete", "ids": [str(mine.pk)]}
        assert "newer" not in body(client.post("/memory/bulk/", data))
        client.post("/memory/bulk/", {**data, "confirmed": "yes"})
        mine.refresh_from_db()
        assert mine.content == "ann's newer"

    def test_an_undo_takes_a_change_of_that_record_only(self, root):
        one, two = put(root[1], "one"), put(root[1], "two")
        write.amend(root[1], one.pk, Changes(content="one changed"))
        revision = MemoryRevision.objects.get()
        assert root[0].post(f"/memory/{two.pk}/undo/{revision.pk}/").status_code == 404


class TestHostileText:
    TEXT = "<script>alert(1)</script><img src=x onerror=alert(1)> \"quoted\" & 'single'"

    def test_markup_stays_text_everywhere(self, root):
        client, principal = root
        record = put(principal, self.TEXT, tags=("<i>t</i>",), domain="<b>d</b>")
        index_all()
        write.amend(principal, record.pk, Changes(content=self.TEXT + " <u>new</u>"))
        paths = ("/", "/?q=alert", f"/memory/{record.pk}/", f"/memory/{record.pk}/amend/")
        for path in (*paths, f"/memory/{record.pk}/delete/", "/?q=<script>alert(2)</script>"):
            page = body(client.get(path))
            assert "<script>alert" not in page
            assert "<img src=x" not in page
            assert not re.search(r"<(i|u|b)>(t|new|d)<", page)

    def test_names_with_markup_stay_text(self):
        client, principal = signed_in("<b onclick=x>eve</b>", is_superuser=True)
        put(principal, "hello")
        assert "<b onclick" not in body(client.get("/"))

    def test_the_text_is_shown_as_it_is(self, root):
        text = "يُجدَّد العقد 🗓️👩‍👩‍👧 e\u0301 \u202eevil\n\n  indented\tand tabbed"
        record = put(root[1], text)
        page = body(root[0].get(f"/memory/{record.pk}/"))
        assert saying(page) == text
        assert 'class="saying" dir="auto"' in page

    def test_a_record_of_100000_characters_is_folded_and_editable(self, root):
        text = "word " * 20_000 + "end"
        record = put(root[1], text)
        page = body(root[0].get(f"/memory/{record.pk}/"))
        assert "Show the other 98,503 characters" in page
        assert len(body(root[0].get("/"))) < 60_000
        assert text in body(root[0].get(f"/memory/{record.pk}/amend/"))

    def test_a_text_that_begins_with_a_line_break_keeps_it_in_the_form(self, root):
        record = put(root[1], "\nfirst line is empty")
        assert re.search(
            r"<textarea[^>]*>\n\nfirst line", body(root[0].get(f"/memory/{record.pk}/amend/"))
        )


class TestForms:
    def test_adding_goes_to_the_record(self, root):
        data = {"content": "a\r\nb", "scope": "global", "kind": "fact", "tags": "x, y"}
        response = root[0].post("/memory/add/", data)
        record = Memory.objects.get()
        assert response.status_code == 303
        assert response["Location"] == f"/memory/{record.pk}/"
        assert (record.content, record.tag_names) == ("a\nb", ["x", "y"])

    def test_a_swap_is_told_where_to_go(self, root):
        response = root[0].post("/memory/add/", {"content": "a"}, headers=SWAP)
        assert response.status_code == 204
        assert response["HX-Redirect"].startswith("/memory/")

    @pytest.mark.parametrize(
        ("field", "value"),
        [("content", " "), ("content", "x\x00"), ("tags", "superseded"), ("kind", "page"),
         ("scope", "wiki"), ("expires", "soon"), ("expires", "2001-01-01"), ("domain", "d" * 101)],
    )  # fmt: skip
    def test_a_wrong_value_is_said_at_its_field_and_nothing_typed_is_lost(self, root, field, value):
        data = {"content": "keep me", "scope": "global", "kind": "fact", "domain": "dom"}
        response = root[0].post("/memory/add/", {**data, field: value})
        page = body(response)
        assert response.status_code == 422
        assert f'id="{field}-problem"' in page
        assert field == "content" or "keep me" in page
        assert not Memory.objects.exists()

    def test_only_scopes_that_one_may_write_are_offered(self, ann_in):
        page = body(ann_in[0].get("/memory/add/"))
        assert 'value="personal"' in page
        assert 'value="agent_config"' not in page
        refused = ann_in[0].post("/memory/add/", {"content": "x", "scope": "agent_config"})
        assert refused.status_code == 422

    def test_adding_twice_makes_one_record(self, root):
        for _ in range(2):
            assert root[0].post("/memory/add/", {"content": "once"}).status_code == 303
        assert Memory.objects.count() == 1

    def amending(self, client, record) -> dict[str, str]:
        page = body(client.get(f"/memory/{record.pk}/amend/"))
        stamp = found(r'name="stamp" value="([^"]+)"', page)
        return {"stamp": stamp, "kind": record.kind, "domain": record.domain, "tags": ""}

    def test_amending_keeps_the_old_text_and_undo_brings_it_back(self, root):
        client, principal = root
        record = put(principal, "the window is Tuesday")
        data = self.amending(client, record)
        client.post(f"/memory/{record.pk}/amend/", {**data, "content": "the window is Wednesday"})
        page = body(client.get(f"/memory/{record.pk}/"))
        assert "<del>Tuesday</del><ins>Wednesday</ins>" in page
        undo = found(rf"/memory/{record.pk}/undo/\d+/", page)
        for _ in range(2):
            assert client.post(undo).status_code == 303
        record.refresh_from_db()
        assert record.content == "the window is Tuesday"
        assert MemoryRevision.objects.count() == 2

    def test_an_untouched_form_changes_nothing(self, root):
        record = put(root[1], "one\r\ntwo")
        data = {**self.amending(root[0], record), "content": "one\r\ntwo"}
        root[0].post(f"/memory/{record.pk}/amend/", data)
        record.refresh_from_db()
        assert record.content == "one\r\ntwo"
        assert not MemoryRevision.objects.exists()

    @pytest.mark.parametrize("change", ["content", "tags", "kind"])
    def test_a_stale_form_is_a_conflict_with_both_texts(self, root, change):
        client, principal = root
        record = put(principal, "first")
        data = {**self.amending(client, record), "content": "mine"}
        news = {"content": Changes(content="theirs"), "tags": Changes(tags=("t",))}
        write.amend(principal, record.pk, news.get(change, Changes(kind="fact")))
        response = client.post(f"/memory/{record.pk}/amend/", data)
        page = body(response)
        assert response.status_code == 409
        assert "mine" in page
        record.refresh_from_db()
        assert record.content in page
        assert record.content != "mine"
        stamp = found(r'name="stamp" value="([^"]+)"', page)
        again = client.post(f"/memory/{record.pk}/amend/", {**data, "stamp": stamp})
        assert again.status_code == 303
        record.refresh_from_db()
        assert record.content == "mine"

    def test_sending_a_form_twice_is_no_conflict(self, root):
        record = put(root[1], "first")
        data = {**self.amending(root[0], record), "content": "second"}
        for _ in range(2):
            assert root[0].post(f"/memory/{record.pk}/amend/", data).status_code == 303
        assert MemoryRevision.objects.count() == 1

    def test_an_equal_record_is_named(self, root):
        twin, record = put(root[1], "same"), put(root[1], "other")
        data = {**self.amending(root[0], record), "content": "same"}
        response = root[0].post(f"/memory/{record.pk}/amend/", data)
        assert response.status_code == 409
        assert f"/memory/{twin.pk}/" in body(response)

    def test_an_expired_token_keeps_what_was_typed(self, root):
        client = Client(enforce_csrf_checks=True)
        client.force_login(User.objects.get(username="root"))
        response = client.post("/memory/add/", {"content": "long text"})
        assert response.status_code == 403
        assert "long text" in body(response)
        swap = client.post("/memory/add/", {"content": "long text"}, headers=SWAP)
        assert swap["X-CSRF-Token"]

    def test_the_end_of_a_record_is_the_end_of_its_day(self, root):
        root[0].post("/memory/add/", {"content": "x", "expires": "2099-05-01"})
        record = Memory.objects.get()
        assert str(record.expires_at).startswith("2099-05-01 23:59:59")
        data = {**self.amending(root[0], record), "content": "x", "expires": ""}
        root[0].post(f"/memory/{record.pk}/amend/", data)
        record.refresh_from_db()
        assert record.expires_at is None


class TestDeleting:
    def test_the_question_says_what_will_happen(self, root, ann_in):
        shared, own = put(root[1], "shared"), put(ann_in[1], "own", "personal")
        assert "who deleted it" in body(root[0].get(f"/memory/{shared.pk}/delete/"))
        assert "nothing stays behind" in body(ann_in[0].get(f"/memory/{own.pk}/delete/"))
        assert Memory.objects.count() == 2

    def test_deleting_twice_says_so_and_goes_on(self, root):
        record = put(root[1], "x")
        for _ in range(2):
            assert root[0].post(f"/memory/{record.pk}/delete/").status_code == 303
        assert not Memory.objects.exists()

    @pytest.mark.parametrize("place", ["https://evil.example/", "//evil.example", "javascript:x"])
    def test_the_way_back_stays_on_this_site(self, root, place):
        record = put(root[1], "x")
        response = root[0].post(f"/memory/{record.pk}/delete/", {"next": place})
        assert response["Location"] == "/"


class TestSelections:
    def bulk(self, client, records, **data):
        return client.post("/memory/bulk/", {"ids": [str(r.pk) for r in records], **data})

    def test_the_preview_changes_nothing_and_says_what_would(self, root):
        records = [put(root[1], f"r{n}", tags=("old",) if n else ()) for n in range(3)]
        page = body(self.bulk(root[0], records, action="tag", tags="old"))
        assert "Tag 1 record?" in page
        assert "2 records left alone" in page
        assert records[0].tag_names == []

    def test_tagging_untagging_and_deleting(self, root):
        client, principal = root
        records = [put(principal, f"r{n}", tags=("kept",)) for n in range(3)]
        self.bulk(client, records, action="tag", tags="a, b", confirmed="yes")
        assert all(Memory.objects.get(pk=r.pk).tag_names == ["a", "b", "kept"] for r in records)
        self.bulk(client, records, action="untag", tags="a", confirmed="yes")
        assert all(Memory.objects.get(pk=r.pk).tag_names == ["b", "kept"] for r in records)
        self.bulk(client, records[:2], action="delete", confirmed="yes")
        assert Memory.objects.count() == 1

    def test_one_that_may_not_be_changed_stops_no_other(self, root, ann_in):
        shared, own = put(root[1], "shared", "agent_config"), put(ann_in[1], "own", "personal")
        note = put(root[1], "a note")
        response = self.bulk(ann_in[0], [shared, note, own], action="delete", confirmed="yes")
        assert response.status_code == 303
        assert set(Memory.objects.values_list("content", flat=True)) == {"shared", "a note"}

    @pytest.mark.parametrize(
        "data",
        [{"action": "burn", "ids": ["x"]}, {"action": "delete"}, {"action": "tag", "ids": ["x"]},
         {"action": "tag", "tags": "superseded"}, {"action": "tag", "tags": ""}],
    )  # fmt: skip
    def test_a_wrong_selection_is_an_error(self, root, data):
        record = put(root[1], "x")
        data = {"ids": [str(record.pk)], **data} if data["action"] != "delete" else data
        assert root[0].post("/memory/bulk/", data).status_code == 400


class TestOwnMemory:
    def test_everything_about_oneself_is_exported(self, ann_in):
        client, ann = ann_in
        record = put(ann, "I like tea ☕", "personal", tags=("taste",))
        write.amend(ann, record.pk, Changes(content="I like coffee"))
        response = client.get("/me/export/")
        document = json.loads(b"".join(response.streaming_content))
        assert "attachment" in response["Content-Disposition"]
        assert [row["content"] for row in document["records"]] == ["I like coffee"]
        assert [row["text_before"] for row in document["history"]] == ["I like tea ☕"]

    def test_deleting_everything_asks_first(self, ann_in, root):
        client, ann = ann_in
        put(ann, "one", "personal")
        put(root[1], "somebody else's", "personal")
        put(root[1], "shared")
        assert "1 personal record" in body(client.get("/me/delete/"))
        assert client.post("/me/delete/").status_code == 422
        assert Memory.objects.count() == 3
        assert client.post("/me/delete/", {"sure": "yes"}).status_code == 303
        assert set(Memory.objects.values_list("content", flat=True)) == {
            "somebody else's",
            "shared",
        }


class TestRecordPage:
    def test_neighbours_are_those_of_the_source_that_one_may_read(self, root, ann_in):
        turns = [put(root[1], f"turn {n}", source=Source("session", "s", n)) for n in range(4)]
        put(ann_in[1], "ann's own turn", "personal", source=Source("session", "s", 2))
        page = body(root[0].get(f"/memory/{turns[1].pk}/"))
        assert "turn 0" in page
        assert "turn 2" in page
        assert "turn 3" not in page
        assert "ann&#x27;s own turn" not in page

    def test_why_it_was_found(self, root):
        record = put(root[1], "the payments gateway")
        index_all()
        page = body(root[0].get(f"/memory/{record.pk}/?q=payments+address"))
        assert "Why it was found" in page
        assert "Matched 1 of 2 words" in page

    def test_a_replaced_record_leads_to_the_newer_one(self, root):
        old, new = put(root[1], "gateway is 5"), put(root[1], "gateway is 7")
        write.retire(old, new, via="rule", reason="another value", actor="rule")
        page = body(root[0].get(f"/memory/{old.pk}/"))
        assert "A newer record took its place: another value" in page
        assert f"/memory/{new.pk}/" in page
        assert "Replaced an older record" in body(root[0].get(f"/memory/{new.pk}/"))

    def test_without_the_right_to_change_it_the_page_says_why(self, root, ann_in, configure):
        configure({"memory.write_access.enabled": "false"})
        record = put(root[1], "shared", "global")
        page = body(ann_in[0].get(f"/memory/{record.pk}/"))
        assert "needs an administrator" in page
        assert f"/memory/{record.pk}/amend/" not in page


class TestState:
    def test_no_worker_is_said_on_every_page(self, root):
        put(root[1], "waits")
        page = body(root[0].get("/"))
        assert "No worker is running." in page
        assert "1 record waits to be indexed" in page
        assert "waiting to be indexed" in page
