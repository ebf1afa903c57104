"""The nightly job: what becomes one, what stays, and that nothing is lost on the way."""

import json
import uuid
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django_q.models import Schedule

from goclaw_site.errors import InvalidInput
from memory import checking, consolidation, jobs, schedules
from memory.beliefs import revisions
from memory.consolidating import groups, merging
from memory.drafts import Changes
from memory.models import Job, Memory, MemoryChunk, MemoryRevision
from memory.providers import chat
from memory.write import amend, forget
from tests.memory.making import ADMIN, GATEWAY, ago, index_all, note, put
from tests.models import failure

pytestmark = pytest.mark.django_db
ONE = "The archive of invoices is kept for ten years in vault-01"
TWO = "Invoices are kept in the archive vault-01 for ten years"
BOTH = "The archive of invoices in vault-01 is kept for ten years"
#: Says what ONE says, by the rule.
NEAR = f"{ONE}."


@pytest.fixture(autouse=True)
def _close(bag, monkeypatch) -> None:
    """The small provider counts words: texts with the same words lie this close."""
    monkeypatch.setattr(groups, "SIMILAR", 0.6)


def fact(text: str, **fields) -> Memory:
    return note(text, **{"kind": "fact", **fields})


def two() -> tuple[Memory, Memory]:
    pair = fact(ONE), fact(TWO)
    index_all()
    return pair


def finish(job: Job) -> Job:
    for _ in range(50):
        if job.ended:
            return job
        jobs.run(str(job.pk))
        job.refresh_from_db()
    raise AssertionError(f"still {job}")


def run(dry_run: bool = False) -> dict:
    params = consolidation.params(dry_run=dry_run)
    job = finish(jobs.start(consolidation.KIND, params, "server"))
    assert job.state == "done", job.error
    return job.result


def live() -> set[str]:
    return set(Memory.objects.filter(live_key__isnull=False).values_list("content", flat=True))


def same(text: str = BOTH) -> dict:
    return {"verdict": "same", "text": text}


def test_without_a_model_near_duplicates_merge_and_the_rest_is_told(no_model):
    two()
    fact(NEAR)
    result = run()
    assert live() == {NEAR, TWO}
    assert result["retired"] == 1
    assert result["without_model"] == chat.why_none()
    assert checking.check() == []


def test_the_model_merges_what_says_the_same_and_the_run_can_be_undone(scripted_model):
    one, _ = two()
    model = scripted_model([same()])
    result = run()
    assert live() == {BOTH}
    assert (result["merged"], result["retired"], result["asked"]) == (1, 2, 1)
    assert {json.loads(model.prompts[0])[n]["text"] for n in (0, 1)} == {ONE, TWO}
    made = Memory.objects.get(content=BOTH)
    assert made.kind == "fact"
    assert str(one.pk) in made.metadata["merged_from"]
    rows = MemoryRevision.objects.filter(run_id=result["run_id"])
    assert {row.via for row in rows} == {"consolidation"}
    index_all()
    assert checking.check() == []
    revisions.undo_run(ADMIN, uuid.UUID(result["run_id"]))
    assert live() == {ONE, TWO}
    scripted_model([])
    assert run()["asked"] == 0, "a vetoed pair is not even asked about"
    assert live() == {ONE, TWO}
    assert checking.check() == []


@pytest.mark.parametrize("verdict", ["unsure", "different"])
def test_what_the_model_does_not_merge_stays_and_is_not_asked_again(scripted_model, verdict):
    two()
    scripted_model([{"verdict": verdict}])
    result = run()
    assert live() == {ONE, TWO}
    assert sum(result["left"].values()) == 1
    scripted_model([])
    assert run()["asked"] == 0


def test_it_is_asked_again_once_a_text_has_changed(scripted_model):
    _, second = two()
    scripted_model([{"verdict": "unsure"}])
    run()
    amend(ADMIN, second.pk, Changes(content=f"{TWO} in all"))
    index_all()
    scripted_model([same(f"{BOTH} in all")])
    assert run()["merged"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The archive is kept",
        BOTH.replace("vault-01", "vault-02"),
        BOTH + " since 1999",
        ONE * 9,
    ],
)
def test_a_merge_that_loses_or_invents_is_refused_and_told(scripted_model, text):
    two()
    scripted_model([same(text)])
    result = run()
    assert live() == {ONE, TWO}
    (reason,) = result["left"]
    assert "merged text" in reason
    scripted_model([])
    run()


@pytest.mark.parametrize(
    "script",
    [
        ["no idea, sorry", "none at all"],
        [{"verdict": "maybe"}, {"everything": True}],
        ["[]", '{"verdict": ["same"]}'],
        [failure("key")],
    ],
)
def test_a_failing_model_changes_nothing_and_is_asked_again(scripted_model, script, monkeypatch):
    monkeypatch.setattr(consolidation, "MOST_FAILURES", 1)
    two()
    scripted_model(script)
    result = run()
    assert live() == {ONE, TWO}
    assert result["failed"] == 1
    assert result["left"]
    assert not MemoryRevision.objects.filter(via="consolidation").exists()
    scripted_model([same()])
    assert run()["merged"] == 1


def test_prose_round_the_answer_is_read(scripted_model):
    two()
    scripted_model([f"Sure!\n```json\n{json.dumps(same())}\n```"])
    assert run()["merged"] == 1


def test_a_write_during_the_call_is_not_lost(scripted_model):
    one, _ = two()

    def amending(prompt):
        amend(ADMIN, one.pk, Changes(content="something else altogether"))
        return same()

    scripted_model(amending)
    result = run()
    assert live() == {"something else altogether", TWO}
    assert result["merged"] == 0
    assert "changed meanwhile" in " ".join(result["left"])


def test_a_record_deleted_during_the_call_stays_deleted(scripted_model):
    one, _ = two()

    def deleting(prompt):
        if Memory.objects.filter(pk=one.pk).exists():
            forget(ADMIN, one.pk)
        return same()

    scripted_model(deleting)
    run()
    assert live() == {TWO}


def test_who_takes_no_part(scripted_model, ann):
    fact(ONE, tags=("critical",))
    fact(TWO, expires_at=ago(hours=-9))
    put(GATEWAY, f"{ONE} :", kind="preference")
    note(f"{TWO} !")
    put(ann, f"{TWO}!", scope="personal", kind="fact")
    put(ADMIN, f"{TWO}.", scope="global", kind="fact")
    index_all()
    scripted_model([])
    before = live()
    assert run()["retired"] == 0
    assert live() == before


def test_a_dry_run_asks_nobody_and_changes_nothing(scripted_model):
    two()
    fact(NEAR)
    index_all()
    scripted_model([])
    result = run(dry_run=True)
    assert (result["notes"], len(result["pairs"])) == (1, 1)
    assert result["groups"] >= 1
    assert live() == {ONE, TWO, NEAR}
    assert not MemoryRevision.objects.exists()


def test_two_workers_on_one_run_merge_once(scripted_model):
    two()
    params = consolidation.params()
    job = jobs.start(consolidation.KIND, params, "server")
    calls = []

    def second_worker(prompt):
        calls.append(prompt)
        if len(calls) == 1:
            Job.objects.filter(pk=job.pk).update(lease_until=ago(seconds=1))
            jobs.run(str(job.pk))
        return same()

    scripted_model(second_worker)
    jobs.run(str(job.pk))
    finish(job)
    assert live() == {BOTH}
    assert MemoryRevision.objects.filter(decision="retired").count() == 2
    index_all()
    assert checking.check() == []


@pytest.mark.parametrize("moment", ["before the swap", "after the swap"])
def test_a_worker_that_dies_leaves_a_run_that_another_finishes(scripted_model, monkeypatch, moment):
    two()
    scripted_model([same(), same()])
    real = merging.revisions.merge

    def dying(*args, **kwargs):
        if moment == "after the swap":
            real(*args, **kwargs)
        monkeypatch.setattr(merging.revisions, "merge", real)
        raise KeyboardInterrupt

    monkeypatch.setattr(merging.revisions, "merge", dying)
    job = jobs.start(consolidation.KIND, consolidation.params(), "server")
    with pytest.raises(KeyboardInterrupt):
        jobs.run(str(job.pk))
    Job.objects.filter(pk=job.pk).update(lease_until=ago(seconds=1))
    finish(job)
    assert live() == {BOTH}
    assert job.result["retired"] == 2
    index_all()
    assert checking.check() == []


def test_chunks_without_a_record_are_dropped(no_model, django_db_blocker):
    two()
    chunk = MemoryChunk.objects.first()
    MemoryChunk.objects.filter(pk=chunk.pk).update(memory=uuid.uuid4())
    assert run()["orphans"] == 1
    assert not MemoryChunk.objects.filter(pk=chunk.pk).exists()


def test_it_runs_at_three_and_starts_one_job(no_model, db):
    schedules.install()
    row = Schedule.objects.get(name="sys-memory-consolidate")
    assert (row.func, row.cron) == ("memory.jobs.consolidate", "0 3 * * *")
    jobs.consolidate()
    jobs.consolidate()
    assert Job.objects.filter(kind="memory_consolidate").count() == 1


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2026-06-01"])
def test_nights_on_which_the_clock_is_changed_have_one_run(day):
    """03:00 comes once each night in Central Europe, also when an hour is lost or comes twice."""
    from croniter import croniter

    zone = ZoneInfo("Europe/Berlin")
    midnight = datetime.fromisoformat(day).replace(tzinfo=zone)
    first = croniter(schedules.CONSOLIDATE_AT, midnight).get_next(datetime)
    assert (first.date().isoformat(), first.hour) == (day, 3)
    second = croniter(schedules.CONSOLIDATE_AT, first).get_next(datetime)
    assert (second.date() - first.date()).days == 1


def test_a_group_is_small_and_holds_no_document(monkeypatch):
    for number in range(9):
        fact(f"{ONE} number {number}")
    long = fact(f"{ONE} " * 60)
    index_all()
    some = Memory.objects.filter(content__startswith=ONE).exclude(pk=long.pk).first()
    assert 2 <= len(groups.around(some)) <= groups.MOST
    assert groups.around(long) == [long]


def test_a_merge_of_one_is_no_merge(scripted_model):
    one = fact(ONE)
    scripted_model([same()])
    provider = chat.background()
    assert isinstance(merging.merge([one], provider, uuid.uuid4()), str)
    with pytest.raises(InvalidInput):
        revisions.merge(ADMIN, [one], None, via="consolidation", reason="", run_id=uuid.uuid4())
