"""Decisions over HTTP: what a write retired, the list, undo, the tag by hand."""

import uuid

import pytest

from memory.models import MemoryRevision
from tests.api.callers import index_all, record_path

REVISIONS, UNDO = "/api/memory/revisions/", "/api/memory/revisions/undo/"
OLD, NEW = "the gateway is 10.0.0.5", "the gateway is 10.0.0.7"


@pytest.fixture
def pair(root):
    """An older fact and the newer one that retired it."""
    return root.wrote(OLD, kind="fact"), root.wrote(NEW, kind="fact")


def test_a_write_tells_what_it_retired_and_search_is_told_the_new_one_only(root):
    old = root.wrote(OLD, kind="fact")
    answer = root.write(NEW, kind="fact")
    assert (answer.status_code, answer.json()["superseded"]) == (201, [old])
    index_all()
    new = answer.json()["id"]
    assert root.found("gateway") == [new]
    assert set(root.found("gateway", include_history=True)) == {old, new}
    body = root.get(record_path(old)).json()
    assert body["superseded"]
    assert body["metadata"]["superseded_by"] == new


def test_the_list_narrows_and_pages(root, pair):
    old, new = pair
    other = root.wrote("x")
    root.patch(record_path(other), {"content": "y"})
    rows = root.get(REVISIONS).json()["results"]
    assert [(row["via"], row["old"]) for row in rows] == [("manual", other), ("rule", old)]
    assert (rows[1]["new"], rows[1]["decision"]) == (new, "retired")

    def listed(**given):
        return [row["old"] for row in root.get(REVISIONS, given).json()["results"]]

    assert listed(via="rule") == listed(record=old) == listed(record=new) == [old]
    assert listed(run=rows[1]["run_id"]) == [old]
    assert listed(run=str(uuid.uuid4())) == []
    assert listed(undone="true") == []
    page = root.get(REVISIONS, {"page_size": 1}).json()
    assert [row["old"] for row in page["results"]] == [other]
    following = root.client.get(page["next"], headers={"Authorization": f"Bearer {root.key}"})
    assert [row["old"] for row in following.json()["results"]] == [old]


@pytest.mark.parametrize(
    "given", [{"run": "x"}, {"record": "1"}, {"via": "magic"}, {"undone": "maybe"}, {"runs": "1"}]
)
def test_what_does_not_narrow_is_an_error(root, given):
    answer = root.get(REVISIONS, given)
    assert answer.status_code == 400
    assert answer.json()["field"] in given


def test_undo_by_record_brings_it_back_for_good(root, pair):
    old, new = pair
    answer = root.post(UNDO, {"memory_id": old, "reason": "two gateways"})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["restored"], body["detail"]) == ([old], "Live again: 1.")
    row = root.get(REVISIONS, {"record": old}).json()["results"][0]
    assert row["undone_at"]
    assert row["undone_reason"] == "two gateways"
    again = root.post(UNDO, {"memory_id": old}).json()
    assert again["already"] == [old]
    assert "undone already" in again["detail"]
    root.delete(record_path(new))
    assert root.write(NEW, kind="fact").json()["superseded"] == []


def test_undo_by_run(root, pair):
    run = str(MemoryRevision.objects.get().run_id)
    assert root.post(UNDO, {"run_id": run}).json()["restored"] == [pair[0]]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"memory_id": "x"}, 400),
        ({"memory_id": str(uuid.UUID(int=1)), "run_id": str(uuid.UUID(int=1))}, 400),
        ({"memory_id": str(uuid.UUID(int=1)), "reason": "\x00"}, 400),
        ({"memory_id": str(uuid.UUID(int=1)), "reason": 7}, 400),
        ({"memory_id": None}, 400),
        ({"memory": "x"}, 400),
        ([], 400),
        ({"memory_id": str(uuid.UUID(int=1))}, 404),
        ({"run_id": str(uuid.UUID(int=1))}, 404),
    ],
)
def test_bad_input_changes_nothing(root, pair, body, status):
    assert root.post(UNDO, body).status_code == status
    assert not MemoryRevision.objects.exclude(undone_at=None).exists()


def test_what_was_never_retired_is_a_conflict(root, pair):
    assert root.post(UNDO, {"memory_id": pair[1]}).status_code == 409


def test_a_personal_decision_is_its_owners_alone(root, ann, bob):
    old = ann.wrote("My editor is vim", kind="fact", scope="personal")
    answer = ann.write("My editor is emacs", kind="fact", scope="personal")
    assert answer.json()["superseded"] == [old]
    run = str(MemoryRevision.objects.get().run_id)
    for somebody in (root, bob):
        assert somebody.get(REVISIONS).json()["results"] == []
        assert somebody.get(REVISIONS, {"record": old}).json()["results"] == []
        assert somebody.post(UNDO, {"memory_id": old}).status_code == 404
        assert somebody.post(UNDO, {"run_id": run}).status_code == 404
    assert ann.post(UNDO, {"memory_id": old}).json()["restored"] == [old]


def test_people_who_do_not_administer_undo_nothing_shared(ann, pair):
    assert len(ann.get(REVISIONS).json()["results"]) == 1
    assert ann.post(UNDO, {"memory_id": pair[0]}).status_code == 403


class TestTheTagByHand:
    def test_an_administrator_removes_it_by_leaving_it_out(self, root, pair):
        old, new = pair
        body = root.patch(record_path(old), {"tags": ["seen"]}).json()
        assert (body["superseded"], body["tags"]) == (False, ["seen"])
        root.delete(record_path(new))
        assert root.write(NEW, kind="fact").json()["superseded"] == [old]

    def test_sent_back_as_it_was_read_it_stays(self, root, pair):
        body = root.patch(record_path(pair[0]), {"tags": ["seen", "superseded"]}).json()
        assert body["tags"] == ["seen", "superseded"]

    def test_nobody_sets_it(self, root, pair):
        assert root.patch(record_path(pair[1]), {"tags": ["superseded"]}).status_code == 400

    def test_for_others_it_stays(self, ann):
        old = ann.wrote("My editor is vim", kind="fact", scope="personal")
        ann.wrote("My editor is emacs", kind="fact", scope="personal")
        assert ann.patch(record_path(old), {"tags": []}).json()["tags"] == ["superseded"]


def test_revise_starts_a_job_for_administrators(root, ann, pair):
    answer = root.post("/api/memory/revise/", {"dry_run": True})
    assert answer.status_code == 202
    job = root.get(f"/api/jobs/{answer.json()['job']}/").json()
    assert (job["kind"], job["state"]) == ("revise", "queued")
    assert ann.post("/api/memory/revise/").status_code in (400, 403)
    assert ann.post("/api/memory/revise/", {}).status_code == 403
    assert root.post("/api/memory/revise/", {"dry": True}).status_code == 400
