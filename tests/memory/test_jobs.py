"""Long work: started once, in slices, resumed, cancelled, and never lost."""

import uuid

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from goclaw_site.errors import Conflict, NotFound, Unavailable
from memory import jobs, queries, queue
from memory.models import EngineState, Job
from tests.memory.making import ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def slices(monkeypatch):
    """A job kind that is finished after three slices; the list says what happened."""
    seen: list[str] = []

    def step(job, deadline):
        seen.append(str(job.pk))
        job.done += 1
        Job.objects.filter(pk=job.pk).update(done=job.done)
        return job.done >= 3

    monkeypatch.setitem(jobs.STEPS, "count", step)
    return seen


def queued() -> int:
    return OrmQ.objects.count()


def test_it_runs_in_slices_that_queue_the_next(slices):
    job = jobs.start("count", {}, "me")
    assert (job.state, queued()) == ("queued", 1)
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.lease_until, queued()) == ("running", None, 2)
    jobs.run(str(job.pk))
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.done, queued()) == ("done", 3, 3)
    assert job.finished_at
    jobs.run(str(job.pk))
    assert len(slices) == 3


def test_an_equal_open_job_is_given_back(slices):
    first = jobs.start("count", {"missing": True}, "me")
    assert jobs.start("count", {"missing": True}, "you").pk == first.pk
    assert jobs.start("count", {"missing": False}, "you").pk != first.pk
    Job.objects.filter(pk=first.pk).update(state=Job.DONE)
    assert jobs.start("count", {"missing": True}, "you").pk != first.pk


def test_a_running_job_is_nobody_elses(slices):
    job = jobs.start("count", {}, "me")
    Job.objects.update(state=Job.RUNNING, lease_until=timezone.now() + jobs.LEASE)
    jobs.run(str(job.pk))
    assert slices == []


def test_a_dead_workers_job_is_taken_up_by_the_sweep(slices):
    job = jobs.start("count", {}, "me")
    Job.objects.update(state=Job.RUNNING, lease_until=ago(seconds=1))
    OrmQ.objects.all().delete()
    jobs.sweep()
    assert queued() == 1
    jobs.run(str(job.pk))
    assert slices == [str(job.pk)]


def test_a_job_whose_message_was_lost_is_queued_again(slices):
    jobs.start("count", {}, "me")
    OrmQ.objects.all().delete()
    jobs.sweep()
    assert queued() == 0
    Job.objects.update(created_at=ago(minutes=1))
    jobs.sweep()
    assert queued() == 1


def test_a_job_that_is_gone_is_nothing():
    jobs.run(str(uuid.uuid4()))
    with pytest.raises(NotFound):
        queries.job(uuid.uuid4())
    with pytest.raises(NotFound):
        jobs.cancel(uuid.uuid4())


def test_cancelling_before_it_starts(slices):
    job = jobs.start("count", {}, "me")
    assert jobs.cancel(job.pk).state == "cancelled"
    jobs.run(str(job.pk))
    assert slices == []
    with pytest.raises(Conflict):
        jobs.cancel(job.pk)


def test_cancelling_between_slices(slices):
    job = jobs.start("count", {}, "me")
    jobs.run(str(job.pk))
    jobs.cancel(job.pk)
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, len(slices)) == ("cancelled", 1)


def test_an_expected_failure_is_told(monkeypatch):
    def step(job, deadline):
        raise Unavailable("no room left")

    monkeypatch.setitem(jobs.STEPS, "count", step)
    job = jobs.start("count", {}, "me")
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "no room left")


def test_a_crash_is_told_and_raised(monkeypatch):
    def step(job, deadline):
        raise ZeroDivisionError("by zero" * 200)

    monkeypatch.setitem(jobs.STEPS, "count", step)
    job = jobs.start("count", {}, "me")
    with pytest.raises(ZeroDivisionError):
        jobs.run(str(job.pk))
    job.refresh_from_db()
    assert job.state == "failed"
    assert job.error.startswith("ZeroDivisionError: by zero")


def test_every_run_is_a_sign_of_life(slices):
    for work in (jobs.sweep, jobs.index_waiting, lambda: jobs.run(str(uuid.uuid4()))):
        EngineState.objects.all().delete()
        work()
        assert EngineState.read(EngineState.WORKER_SEEN)


def test_the_names_in_the_queue_are_functions():
    from django.utils.module_loading import import_string

    for name in (queue.INDEX_WAITING, queue.RUN_JOB, "memory.jobs.sweep"):
        assert callable(import_string(name))


def test_schedules_are_written_once(django_db_blocker):
    from django_q.models import Schedule

    from memory import schedules

    for _ in range(2):
        schedules.install()
    Schedule.objects.create(name=schedules.SWEEP, func="old")
    schedules.install()
    assert Schedule.objects.filter(name=schedules.SWEEP).count() == 1
    assert Schedule.objects.get(name=schedules.SWEEP).func == "memory.jobs.sweep"
