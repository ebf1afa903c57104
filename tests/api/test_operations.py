"""Stats, reindex, jobs, health."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from memory import jobs
from memory.models import EngineState, Job, Memory
from tests.api.callers import DEDUPE, JOBS, REINDEX, STATS, caller, index_all, reason


def job_path(job_id):
    return f"/api/jobs/{job_id}/"


def test_stats_count_what_one_may_see(ann, root):
    ann.wrote("mine", scope="personal", kind="fact", tags=["red"])
    root.wrote("ours", tags=["red", "big"])
    index_all()
    root.wrote("waiting")
    body = ann.get(STATS).json()
    assert body["records"] == 3
    assert body["pending"] == 1
    assert body["by_scope"] == {"agent_notes": 2, "personal": 1}
    assert body["by_kind"] == {"fact": 1, "note": 2}
    assert body["by_tag"] == {"red": 2, "big": 1}
    assert (body["chunks"], body["embedded"], body["embedded_share"]) == (2, 0, 0.0)
    assert body["model"] is None
    assert "engine" not in body
    whole = root.get(STATS).json()
    assert whole["records"] == 2
    assert whole["by_scope"] == {"agent_notes": 2}
    assert whole["engine"]["all_records"] == 3
    assert whole["engine"]["database_bytes"] >= 0
    assert whole["index_lag_seconds"] >= 0


def test_failed_records_are_not_pending(root):
    root.wrote("broken")
    Memory.objects.update(index_state="failed")
    body = root.get(STATS).json()
    assert (body["pending"], body["failed"]) == (0, 1)


@pytest.mark.parametrize("path", [STATS, JOBS])
def test_ignored_parameters_are_refused(root, path):
    answer = root.get(path + "?scope=global")
    assert answer.status_code == 400
    assert reason(answer)


@pytest.mark.parametrize("body", [{}, {"missing": True}, {"missing": False}])
def test_reindex_is_202_with_the_job(root, body):
    answer = root.post(REINDEX, body)
    assert answer.status_code == 202
    assert set(answer.json()) == {"job"}
    shown = root.get(job_path(answer.json()["job"])).json()
    assert (shown["kind"], shown["state"]) == ("reindex", "queued")


def test_reindex_takes_no_body_and_gives_back_the_unfinished_job(root):
    first, again = root.post(REINDEX), root.post(REINDEX)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()


@pytest.mark.parametrize("body", [[], None, "x", 7, {"missing": []}, {"all": True}])
def test_wrong_reindex_starts_nothing(root, body):
    assert root.post(REINDEX, body).status_code == 400
    assert not Job.objects.exists()


def test_reindex_is_for_administrators_who_may_write(ann, gate, nobody, db):
    reader = caller("reader", is_superuser=True, read_only=True)
    for who, status in ((ann, 403), (gate, 403), (reader, 403), (nobody, 401)):
        answer = who.post(REINDEX, {})
        assert answer.status_code == status
        assert reason(answer)
    assert not Job.objects.exists()


def test_members_of_the_group_admin_are_administrators(db):
    member = caller("member", groups=("admin",))
    assert member.post(REINDEX, {}).status_code == 202


def test_job_runs_and_shows_its_outcome(root):
    for n in range(3):
        root.wrote(f"record {n}")
    job_id = root.post(REINDEX, {}).json()["job"]
    jobs.run(job_id)
    body = root.get(job_path(job_id)).json()
    assert set(body) == {
        "id",
        "kind",
        "state",
        "done",
        "total",
        "result",
        "error",
        "created_at",
        "finished_at",
    }
    assert (body["state"], body["done"], body["total"], body["error"]) == ("done", 3, 3, "")
    assert body["finished_at"] >= body["created_at"]
    assert body["result"]["records"] == 3


def test_jobs_are_listed_newest_first(root):
    made = [str(jobs.start("reindex", {"n": n}, "root").pk) for n in range(5)]
    first = root.get(JOBS + "?page_size=3").json()
    second = root.get(first["next"]).json()
    assert [row["id"] for row in first["results"] + second["results"]] == made[::-1]


def test_people_see_their_own_jobs_only(root, ann):
    job_id = root.post(REINDEX, {}).json()["job"]
    assert ann.get(JOBS).json()["results"] == []
    foreign, unknown = ann.get(job_path(job_id)), ann.get(job_path(uuid.uuid4()))
    assert (foreign.status_code, foreign.content) == (unknown.status_code, unknown.content)
    assert foreign.status_code == 404


def test_queued_job_is_cancelled_once(root, ann):
    job_id = root.post(REINDEX, {}).json()["job"]
    assert ann.post(job_path(job_id) + "cancel/").status_code == 403
    answer = root.post(job_path(job_id) + "cancel/")
    assert answer.status_code == 200
    assert answer.json()["state"] == "cancelled"
    again = root.post(job_path(job_id) + "cancel/")
    assert again.status_code == 409
    assert "cancelled" in reason(again)
    jobs.run(job_id)
    assert root.get(job_path(job_id)).json()["state"] == "cancelled"


def test_cancelling_what_is_not_there_is_404(root):
    assert root.post(job_path(uuid.uuid4()) + "cancel/").status_code == 404


def test_readiness_needs_a_living_worker(nobody):
    assert nobody.get("/healthz").content == b"ok"
    answer = nobody.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["ok"] is False
    assert "sign of life" in answer.json()["worker"]
    jobs.seen()
    answer = nobody.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ok"] is True


def test_readiness_tells_of_a_silent_worker_and_of_old_waiting_records(root, nobody):
    jobs.seen()
    root.wrote("waiting")
    an_hour_ago = timezone.now() - timedelta(hours=1)
    Memory.objects.update(created_at=an_hour_ago, updated_at=an_hour_ago)
    behind = nobody.get("/readyz")
    assert behind.status_code == 503
    assert behind.json()["index"]["behind"] is True
    index_all()
    assert nobody.get("/readyz").status_code == 200
    EngineState.record(EngineState.WORKER_SEEN, an_hour_ago.isoformat())
    assert nobody.get("/readyz").status_code == 503


@pytest.mark.parametrize("path", ["/healthz", "/healthz/", "/readyz", "/readyz/"])
def test_health_is_read_only(nobody, path):
    jobs.seen()
    assert nobody.send("HEAD", path).status_code == 200
    assert nobody.post(path, {}).status_code == 405


def test_dedupe_is_202_with_the_job_for_administrators(root, ann, gate):
    answer = root.post(DEDUPE, {"ratio": 0.9, "dry_run": True})
    assert answer.status_code == 202
    job = Job.objects.get(pk=answer.json()["job"])
    assert (job.kind, job.params) == ("dedupe", {"ratio": 0.9, "dry_run": True})
    assert [who.post(DEDUPE, {}).status_code for who in (ann, gate)] == [403, 403]
    assert Job.objects.count() == 1


@pytest.mark.parametrize("body", [{"ratio": 7}, {"ratio": "x"}, {"dry": True}, [], {"ratio": None}])
def test_wrong_dedupe_starts_nothing(root, body):
    assert root.post(DEDUPE, body).status_code == 400
    assert not Job.objects.exists()
