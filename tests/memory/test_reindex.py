"""The job `reindex`: everything or what is missing, where it stopped, beside fresh writes."""

import pytest
from django.utils import timezone

from goclaw_site.errors import ProviderError
from memory import checking, jobs, providers, write
from memory.models import Job, Memory, MemoryChunk
from memory.reindexing import BATCH
from memory.write import retire
from tests.memory.making import (
    ADMIN,
    BagProvider,
    Failing,
    ago,
    expire,
    ids,
    index_all,
    note,
    serve,
    texts,
)

pytestmark = pytest.mark.django_db


def start(missing: bool = False) -> Job:
    return jobs.start("reindex", {"missing": missing}, "me")


def finish(job: Job) -> Job:
    for _ in range(50):
        jobs.run(str(job.pk))
        job.refresh_from_db()
        if job.ended:
            return job
    raise AssertionError(f"still {job}")


def fill(count: int = 20) -> list[Memory]:
    made = [note(f"note number{n}") for n in range(count)]
    index_all()
    return made


def test_everything_is_cut_and_embedded_anew(bag):
    fill()
    before = set(MemoryChunk.objects.values_list("pk", flat=True))
    bag.passages_seen.clear()
    job = finish(start())
    assert (job.state, job.done, job.total) == ("done", 20, 20)
    assert job.result["indexed"] == 20
    assert len(bag.passages_seen) == 20
    assert before.isdisjoint(MemoryChunk.objects.values_list("pk", flat=True))
    assert len(ids(ADMIN, "number7")) >= 1
    assert checking.check() == []


def test_missing_does_only_what_lacks_a_current_vector(bag):
    fill()
    MemoryChunk.objects.filter(text="note number3").update(embedding=None, embedding_model="")
    Memory.objects.filter(content="note number5").update(index_state="failed")
    MemoryChunk.objects.filter(text="note number6").delete()
    bag.passages_seen.clear()
    job = finish(start(missing=True))
    assert job.done == 3
    assert set(bag.passages_seen) <= {"note number3", "note number6"}
    assert checking.check() == []


def test_a_model_change_is_carried_through(bag):
    fill()
    assert ids(ADMIN, "number7", min_score=0.0)
    two = serve(BagProvider("two", 32))
    finish(start(missing=True))
    assert set(MemoryChunk.objects.values_list("embedding_model", "embedding_dim")) == {("two", 32)}
    assert len(two.passages_seen) == 20
    assert texts(ADMIN, "number7")[0] == "note number7"
    assert checking.check() == []


def test_times_do_not_move(bag):
    record = fill(1)[0]
    Memory.objects.update(updated_at=ago(days=50))
    before = Memory.objects.values("updated_at", "created_at", "version").get()
    finish(start())
    record.refresh_from_db()
    assert Memory.objects.values("updated_at", "created_at", "version").get() == before


def test_it_goes_on_after_a_kill(bag, monkeypatch):
    fill(3 * BATCH)
    job = start()

    class Killed(BaseException):
        pass

    def die(texts):
        if len(bag.batches) == 2:
            raise Killed

    bag.batches.clear()
    bag.batch_size = BATCH
    bag.before = die
    with pytest.raises(Killed):
        jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.done) == ("running", 2 * BATCH)
    bag.before = lambda texts: None
    bag.passages_seen.clear()
    jobs.run(str(job.pk))
    assert bag.passages_seen == [], "the dead worker's lease still holds"
    Job.objects.update(lease_until=ago(seconds=1))
    jobs.sweep()
    job = finish(job)
    assert (job.state, job.done, job.total) == ("done", 3 * BATCH, 3 * BATCH)
    assert len(bag.passages_seen) == BATCH
    assert checking.check() == []


def test_it_stops_where_it_is_cancelled(bag):
    fill(4 * BATCH)
    job = start()
    bag.before = lambda texts: jobs.cancel(job.pk) if not len(bag.passages_seen) else None
    bag.passages_seen.clear()
    job = finish(job)
    assert (job.state, job.done) == ("cancelled", BATCH)
    index_all()
    assert checking.check() == []


def test_a_fresh_write_cuts_in(bag):
    fill(4 * BATCH)
    bag.passages_seen.clear()
    bag.before = lambda texts: note("urgent news") if len(bag.passages_seen) == BATCH else None
    finish(start())
    assert bag.passages_seen.index("urgent news") <= 2 * BATCH + 1


def test_a_failing_provider_stops_nothing_for_good(bag, monkeypatch):
    fill(BATCH)
    provider = serve(Failing(ProviderError("down")))
    job = start()
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.done) == ("running", 0)
    assert texts(ADMIN, "number3")[0] == "note number3"
    provider.broken = None
    provider.awake()
    job = finish(job)
    assert (job.state, job.done) == ("done", BATCH)
    assert set(MemoryChunk.objects.values_list("embedding_model", flat=True)) == {"bag"}


def test_a_resting_provider_costs_no_worker_its_time(bag, monkeypatch):
    """A slice ends when the provider rests; it is not spent in sleep."""
    fill(2)
    provider = serve(Failing(ProviderError("down")))
    provider._rest_until = float("inf")
    slept: list[float] = []
    monkeypatch.setattr("memory.reindexing.time.sleep", slept.append)
    jobs.run(str(start().pk))
    assert sum(slept) <= 1
    assert provider.calls == 0


def test_without_a_provider_it_is_text_alone(bag, configure):
    fill(3)
    configure({"memory.search.provider": "none"})
    providers.reset()
    job = finish(start())
    assert (job.done, job.result["model"]) == (3, None)
    assert set(Memory.objects.values_list("index_state", flat=True)) == {"indexed"}
    assert texts(ADMIN, "number2") == ["note number2"]


def test_history_and_expired_records_stay_where_they_are(bag):
    old, ended = fill(2)
    retire(old, None, via="manual", reason="", actor="me")
    expire(ended)
    jobs.sweep()
    finish(start())
    assert ids(ADMIN, "note") == []
    assert ids(ADMIN, "note", include_history=True) == [old.pk]
    assert checking.check() == []


def test_a_record_that_was_amended_meanwhile_keeps_its_new_text(bag):
    record = fill(1)[0]
    from memory.drafts import Changes

    def change(texts):
        if texts == ["note number0"]:
            write.amend(ADMIN, record.pk, Changes(content="quite another"))

    bag.before = change
    finish(start())
    index_all()
    assert texts(ADMIN, "another") == ["quite another"]
    assert checking.check() == []


def test_progress_can_be_read(bag):
    fill(2)
    job = start(missing=True)
    job = finish(job)
    assert (job.done, job.total) == (0, 0)
    assert job.finished_at <= timezone.now()
