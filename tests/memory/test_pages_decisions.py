"""Decisions as pages: lists, runs, taking back, marking as wrong, what changed today."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memory.beliefs import revisions as beliefs
from memory.models import Memory, MemoryRevision
from memory.pages import shell
from tests.memory.making import index_all
from tests.memory.test_pages import SWAP, body, put, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("keyword_only")]

OLD = "The mail relay is maintained by Otter team."
NEW = "The mail relay is maintained by Heron team."


@pytest.fixture
def root():
    return signed_in("root", is_superuser=True, is_staff=True)


@pytest.fixture
def ann():
    return signed_in("ann")


def replaced(principal, old=OLD, new=NEW, scope="agent_notes", run_id=None):
    """Two records, the first of which the second took the place of."""
    first, second = put(principal, old, scope), put(principal, new, scope)
    beliefs.retire(
        first, second, via="judge", reason="fully replaces it", actor="judge", run_id=run_id
    )
    return first, second


def page(client, path, status=200, **query):
    response = client.get(path, query)
    assert response.status_code == status, body(response)[:300]
    return body(response)


def told(client, response):
    """The page that a form leads to, with what it says there."""
    assert response.status_code == 303
    return body(client.get(response["Location"]))


class TestList:
    def test_shows_both_texts_who_why_and_a_way_back(self, root):
        client, principal = root
        old, new = replaced(principal)
        shown = page(client, "/revisions/")
        assert "<del>Otter</del>" in shown
        assert "<ins>Heron</ins>" in shown
        assert "fully replaces it" in shown
        assert reverse("revisions-undo", args=[old.pk]) in shown
        assert reverse("memory-record", args=[new.pk]) in shown

    @pytest.mark.parametrize(
        ("query", "there"),
        [
            ({"via": "judge"}, True), ({"via": "rule"}, False),
            ({"undone": "no"}, True), ({"undone": "yes"}, False),
            ({"decision": "retired"}, True), ({"decision": "kept"}, False),
            ({"q": "mail relay"}, True), ({"q": "zeppelin"}, False),
        ],
    )  # fmt: skip
    def test_narrows(self, root, query, there):
        client, principal = root
        replaced(principal)
        index_all()
        assert ("Heron" in page(client, "/revisions/", **query)) is there

    def test_of_one_record(self, root):
        client, principal = root
        old, _ = replaced(principal)
        replaced(principal, "Cats are grey here.", "Cats are black here.")
        shown = page(client, "/revisions/", record=str(old.pk))
        assert "Heron" in shown
        assert "black" not in shown

    @pytest.mark.parametrize(
        "query",
        [{"via": "x"}, {"record": "1"}, {"run": "-"}, {"before": "x"}, {"undone": "?"}, {"z": "1"},
         {"before": "9" * 40}, {"decision": "\x00"}],
    )  # fmt: skip
    def test_what_it_cannot_read_is_said_at_the_top(self, root, query):
        shown = page(root[0], "/revisions/", status=422, **query)
        assert 'role="alert"' in shown

    def test_pages(self, root):
        client, principal = root
        for number in range(32):
            replaced(principal, f"Lamp {number} is on.", f"Lamp {number} is off.")
        first = page(client, "/revisions/")
        older = first.split('href="?')[1].split('"')[0].replace("&amp;", "&")
        second = body(client.get(f"/revisions/?{older}"))
        assert first.count('class="decision') == 30
        assert second.count('class="decision') == 2

    def test_costs_the_same_however_long(self, root, monkeypatch):
        # The report in the frame of the page is looked up anew after some seconds.
        monkeypatch.setattr(shell, "_REPORT_SECONDS", 3600)
        client, principal = root
        counts = []
        for size in (3, 6):
            for number in range(size):
                replaced(principal, f"Door {size} {number} is on.", f"Door {size} {number} is off.")
            page(client, "/revisions/")
            with CaptureQueriesContext(
                connection,
            ) as captured:
                page(client, "/revisions/")
            counts.append(len(captured))
        assert counts[0] == counts[1]

    def test_another_persons_decisions_are_not_there(self, root, ann):
        old, _ = replaced(ann[1], scope="personal")
        assert "Heron" in page(ann[0], "/revisions/")
        shown = page(root[0], "/revisions/")
        assert "Heron" not in shown
        assert str(old.pk) not in shown
        for name in ("revisions-undo", "changes-wrong"):
            assert root[0].post(reverse(name, args=[old.pk])).status_code == 404
        run = MemoryRevision.objects.get(old_id=old.pk).run_id
        assert root[0].get(reverse("revisions-run", args=[run])).status_code == 404
        assert root[0].post(reverse("revisions-undo-run", args=[run])).status_code == 404
        assert not Memory.objects.get(pk=old.pk).live_key


class TestUndo:
    def test_asks_first_and_says_what_will_happen(self, root):
        client, principal = root
        old, _ = replaced(principal)
        shown = page(client, reverse("revisions-undo", args=[old.pk]))
        assert "Bring this record back?" in shown
        assert "holds for good" in shown
        assert Memory.objects.get(pk=old.pk).live_key is None

    def test_brings_back_keeps_the_reason_and_goes_where_one_was(self, root):
        client, principal = root
        old, new = replaced(principal)
        response = client.post(
            reverse("revisions-undo", args=[old.pk]), {"reason": "both teams", "next": "/changes/"}
        )
        assert response["Location"] == "/changes/"
        assert Memory.objects.get(pk=old.pk).live_key
        assert Memory.objects.get(pk=new.pk).live_key
        row = MemoryRevision.objects.get(old_id=old.pk, decision="retired")
        assert (row.undone_by, row.undone_reason) == ("root", "both teams")
        shown = page(client, "/revisions/")
        assert "both teams" in shown
        assert "undone by" in shown

    @pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:x"])
    def test_never_leads_to_another_site(self, root, target):
        client, principal = root
        old, _ = replaced(principal)
        response = client.post(reverse("revisions-undo", args=[old.pk]), {"next": target})
        assert response["Location"] == reverse("memory-record", args=[old.pk])

    def test_twice_changes_nothing_and_says_so(self, root):
        client, principal = root
        old, _ = replaced(principal)
        address = reverse("revisions-undo", args=[old.pk])
        client.post(address)
        said = told(client, client.post(address))
        assert "undone already" in said

    def test_of_what_was_never_retired_is_refused_in_words(self, root):
        client, principal = root
        record = put(principal, "Never replaced.")
        response = client.post(reverse("revisions-undo", args=[record.pk]), headers=SWAP)
        assert response.status_code == 422
        assert "never retired" in body(response)

    def test_of_shared_ones_is_for_administrators(self, root, ann):
        old, _ = replaced(root[1])
        assert "btn s" not in page(ann[0], "/revisions/").split('class="decision')[1]
        response = ann[0].post(reverse("revisions-undo", args=[old.pk]))
        assert response.status_code == 422
        assert "administrators" in body(response)
        assert Memory.objects.get(pk=old.pk).live_key is None

    def test_a_person_undoes_a_personal_one(self, ann):
        old, _ = replaced(ann[1], scope="personal")
        ann[0].post(reverse("revisions-undo", args=[old.pk]))
        assert Memory.objects.get(pk=old.pk).live_key

    def test_what_is_not_there_is_not_found(self, root):
        for name in ("revisions-undo", "revisions-run", "revisions-undo-run", "changes-wrong"):
            response = root[0].post(reverse(name, args=[uuid.uuid4()]))
            assert response.status_code in {404, 405}


class TestRun:
    def test_shows_and_undoes_all_of_it(self, root):
        client, principal = root
        run = uuid.uuid4()
        pairs = [
            replaced(principal, f"Lamp {n} is on.", f"Lamp {n} is off.", run_id=run)
            for n in range(3)
        ]
        shown = page(client, reverse("revisions-run", args=[run]))
        assert "3 decisions of one run" in shown
        address = reverse("revisions-undo-run", args=[run])
        assert address in shown
        assert "Undo 3 changes?" in page(client, address)
        client.post(address, {"reason": "bad judge"})
        assert all(Memory.objects.get(pk=old.pk).live_key for old, _ in pairs)
        assert "3 of them undone" in page(client, reverse("revisions-run", args=[run]))
        assert "undone already" in told(client, client.post(address))


class TestWrong:
    def test_takes_it_out_of_search_and_brings_back_what_it_replaced(self, root):
        client, principal = root
        old, new = replaced(principal)
        said = told(client, client.post(reverse("changes-wrong", args=[new.pk])))
        assert "1 record it had replaced is live again" in said
        assert Memory.objects.get(pk=old.pk).live_key
        assert Memory.objects.get(pk=new.pk).live_key is None

    def test_can_be_undone(self, root):
        client, principal = root
        record = put(principal, "The moon is cheese.")
        client.post(reverse("changes-wrong", args=[record.pk]))
        assert "marked as wrong" in page(client, reverse("memory-record", args=[record.pk]))
        client.post(reverse("revisions-undo", args=[record.pk]))
        assert Memory.objects.get(pk=record.pk).live_key

    def test_is_refused_to_whom_it_does_not_belong(self, root, ann):
        record = put(root[1], "The sky is blue.")
        response = ann[0].post(reverse("changes-wrong", args=[record.pk]))
        assert response.status_code == 403
        assert Memory.objects.get(pk=record.pk).live_key

    def test_twice_is_a_conflict_in_words(self, root):
        client, principal = root
        record = put(principal, "The moon is cheese.")
        client.post(reverse("changes-wrong", args=[record.pk]))
        response = client.post(reverse("changes-wrong", args=[record.pk]))
        assert response.status_code == 409


class TestWhatChanged:
    def test_shows_what_agents_wrote_and_what_was_replaced(self, root):
        client, principal = root
        replaced(principal)
        put(principal, "Written by hand, in the browser.")
        agent = put(principal, "Learned by the assistant.", agent="helper")
        shown = page(client, "/changes/")
        assert "Learned by the assistant." in shown
        assert "by hand" not in shown
        assert "<ins>Heron</ins>" in shown
        assert reverse("changes-wrong", args=[agent.pk]) in shown

    def test_leaves_out_what_is_older(self, root):
        client, principal = root
        record = put(principal, "Learned long ago.", agent="helper")
        old = timezone.now() - timedelta(days=3)
        Memory.objects.filter(pk=record.pk).update(created_at=old, updated_at=old)
        assert "Nothing new" in page(client, "/changes/")
        assert "long ago" in page(client, "/changes/", days="7")

    def test_shows_nobody_elses(self, root, ann):
        put(ann[1], "I take my tea green.", "personal", agent="helper")
        replaced(ann[1], scope="personal")
        shown = page(ann[0], "/changes/")
        assert "tea green" in shown
        assert "Heron" in shown
        assert "Nothing new" in page(root[0], "/changes/")

    @pytest.mark.parametrize("query", [{"days": "2"}, {"days": "x"}, {"cursor": "x"}])
    def test_what_it_cannot_read_is_said(self, root, query):
        assert 'role="alert"' in page(root[0], "/changes/", status=422, **query)

    def test_goes_on_past_a_page(self, root):
        client, principal = root
        for number in range(45):
            put(principal, f"Learned thing {number}.", agent="helper")
        first = page(client, "/changes/")
        following = first.split('href="?days=1&amp;')[1].split('"')[0]
        second = body(client.get(f"/changes/?days=1&{following}"))
        assert first.count("Learned thing") + second.count("Learned thing") >= 45
        assert "Learned thing 0." in second
