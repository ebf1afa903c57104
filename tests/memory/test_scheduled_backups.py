"""Backups by the clock and at a press: as many as wanted, remembered, resumed, and said."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule

from goclaw_site.config import state_dir
from memory import audit, jobs, schedules, stats
from memory.backups import examining, listing, making, recording, scheduled
from memory.models import EngineState, Job
from tests.memory.making import ADMIN

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("keyword_only")]
FILE_ALONE = pytest.mark.sqlite("it breaks the copying of the file; a dump is another program's")


@pytest.fixture
def place(configure, tmp_path) -> Path:
    configure({"backup.folder": str(tmp_path / "copies"), "backup.keep": 2})
    return tmp_path / "copies"


def run(by: str = scheduled.SCHEDULE) -> Job:
    job = jobs.start(scheduled.KIND, {"by": by}, "server")
    jobs.run_slice(str(job.pk))
    job.refresh_from_db()
    return job


def older(path: Path, name: str) -> Path:
    return path.rename(path.with_name(name))


def test_a_whole_backup_that_is_remembered(place):
    job = run()
    assert (job.state, job.error) == ("done", "")
    assert job.done == job.total > 0
    path = Path(job.result["path"])
    assert path.parent == place
    assert examining.examine(path).made_by == "schedule"
    held = stats.stats(ADMIN)["engine"]["backup"]
    assert held["last"] == held["last_good"]
    assert held["last_good"]["path"] == str(path)
    assert held["hours"] < 1
    assert [event.action for event in audit.events(ADMIN, action="db.backup")] == ["db.backup"]


def test_the_oldest_go_and_what_is_not_ours_stays(place):
    older(Path(run().result["path"]), "goclaw-20200101T000000Z")
    older(Path(run().result["path"]), "goclaw-20210101T000000Z")
    (place / "goclaw-20190101T000000Z").mkdir()
    (place / "theirs").mkdir()
    (place / ".goclaw-20180101T000000Z.part").mkdir()
    job = run()
    names = sorted(path.name for path in place.iterdir())
    assert names == sorted(
        ["goclaw-20190101T000000Z", "goclaw-20210101T000000Z", Path(job.result["path"]).name,
         "theirs"]
    )  # fmt: skip
    assert job.result["removed"] == 1


def test_the_newest_stays_whatever_the_clock_did(place, configure):
    configure({"backup.keep": 1})
    older(Path(run().result["path"]), "goclaw-29990101T000000Z")
    job = run()
    assert [path.name for path in place.iterdir()] == [Path(job.result["path"]).name]


@FILE_ALONE
def test_a_failure_is_remembered_and_the_last_good_one_too(place, monkeypatch):
    good = run().result["path"]

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making.databases, "copy", full)
    job = run()
    assert job.state == "failed"
    assert "No space left" in job.error
    held = recording.last()
    assert held["last_good"]["path"] == good
    assert "No space left" in held["last"]["why"]
    assert "The last try failed" in listing.worry()
    assert [path.name for path in place.iterdir()] == [Path(good).name]


def test_a_slice_that_ends_early_is_gone_on_with(place, monkeypatch):
    monkeypatch.setattr(jobs, "SLICE_SECONDS", -1.0)
    (state_dir() / "media").mkdir(exist_ok=True)
    (state_dir() / "media" / "one").write_bytes(b"x")
    job = run()
    assert job.state == "running"
    monkeypatch.undo()
    jobs.run_slice(str(job.pk))
    job.refresh_from_db()
    assert job.state == "done"
    (state_dir() / "media" / "one").unlink()


@FILE_ALONE
def test_a_worker_that_is_always_stopped_does_not_try_for_ever(place, monkeypatch):
    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(making.databases, "copy", killed)
    job = jobs.start(scheduled.KIND, {"by": "schedule"}, "server")
    for _ in range(scheduled.MAX_TRIES):
        with pytest.raises(KeyboardInterrupt):
            jobs.run_slice(str(job.pk))
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    jobs.run_slice(str(job.pk))
    job.refresh_from_db()
    assert job.state == "failed"
    assert "queue.retry_seconds" in job.error


@FILE_ALONE
def test_cancelled_on_the_way_it_leaves_nothing(place, monkeypatch):
    monkeypatch.setattr(scheduled, "_TOLD_EVERY", -1.0)
    job = jobs.start(scheduled.KIND, {"by": "page"}, "root")
    real = making.databases.copy

    def cancelled_meanwhile(source, target, watch):
        Job.objects.filter(pk=job.pk).update(cancel_requested=True)
        real(source, target, watch)

    monkeypatch.setattr(making.databases, "copy", cancelled_meanwhile)
    jobs.run_slice(str(job.pk))
    jobs.run_slice(str(job.pk))
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert list(place.iterdir()) == []
    assert recording.last()["last"] is None


def test_one_at_a_time(place):
    jobs.start(scheduled.KIND, {"by": "page"}, "root")
    jobs.back_up()
    assert Job.objects.filter(kind=scheduled.KIND).count() == 1


class TestSchedule:
    def test_nightly_from_the_first_start_on(self, configure):
        configure({"timezone": "Europe/Berlin"})
        schedules.install()
        held = Schedule.objects.get(name=schedules.BACKUP)
        assert (held.cron, held.func) == ("30 2 * * *", "memory.jobs.back_up")
        assert timezone.now() < held.next_run <= timezone.now() + timedelta(days=1, hours=1)

    def test_what_was_missed_is_caught_up_and_a_restart_changes_nothing(self):
        schedules.install()
        missed = timezone.now() - timedelta(hours=3)
        Schedule.objects.filter(name=schedules.BACKUP).update(next_run=missed)
        schedules.install()
        assert Schedule.objects.get(name=schedules.BACKUP).next_run == missed

    def test_another_time_counts_at_once_and_empty_is_never(self, configure, monkeypatch):
        schedules.install()
        configure({"backup.schedule": "0 4 * * 0"})
        schedules.install()
        held = Schedule.objects.get(name=schedules.BACKUP)
        assert held.cron == "0 4 * * 0"
        assert held.next_run > timezone.now()
        monkeypatch.setattr(schedules, "get_config", lambda: _without_schedule(configure))
        schedules.install()
        assert not Schedule.objects.filter(name=schedules.BACKUP).exists()


def _without_schedule(configure):
    """An empty variable counts as unset, so the file would have to say it."""
    config = configure({})
    return config.model_copy(update={"backup": config.backup.model_copy(update={"schedule": ""})})


class TestWords:
    def test_without_any(self):
        assert listing.worry() == "There is no backup yet."

    def test_old_ones(self, place):
        run()
        assert listing.worry() == ""
        held = EngineState.read(recording.LAST_GOOD)
        at = (timezone.now() - timedelta(days=3)).isoformat()
        EngineState.record(recording.LAST_GOOD, {**held, "at": at})
        assert listing.worry() == "The last good backup is 3 days old."

    def test_the_list_says_what_each_lacks(self, place):
        path = Path(run(scheduled.PAGE).result["path"])
        broken = place / "broken"
        broken.mkdir()
        (broken / "manifest.json").write_text('{"format": "goclaw-backup", "version": 99}')
        rows = {row.path: row for row in listing.everything()}
        assert rows[path].lacks == ("secrets",)
        assert rows[path].maker == "On this page"
        assert "newer version" in rows[broken].problem

    def test_a_path_with_spaces_can_be_pasted(self, tmp_path):
        row = listing.Listed(Path("/mnt/my disk/it's"), timezone.now(), 1, "x")
        assert os.popen(f"printf '%s|' {row.command}").read().split("|")[4] == str(row.path)


class TestPage:
    @pytest.fixture
    def root(self) -> Client:
        client = Client()
        client.force_login(User.objects.create(username="root", is_superuser=True))
        return client

    def test_for_administrators(self, root):
        assert root.get("/backups/").status_code == 200
        ann = Client()
        ann.force_login(User.objects.create(username="ann"))
        for path in ("/backups/", "/backups/now/", "/backups/cancel/"):
            method = ann.get if path == "/backups/" else ann.post
            assert method(path).status_code == 403

    def test_empty_then_running_then_there(self, root, place):
        page = root.get("/backups/").content.decode()
        assert "There is no backup yet." in page
        assert root.post("/backups/now/").status_code == 303
        page = root.get("/backups/").content.decode()
        assert "It waits for the worker" in page
        assert 'hx-trigger="every 2s"' in page
        job = jobs.backup_running()
        Job.objects.filter(pk=job.pk).update(done=512, total=2048)
        assert "512.0\xa0KB of 2.0\xa0MB" in root.get("/backups/").content.decode()
        jobs.run_slice(str(job.pk))
        page = root.get("/backups/", headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in page
        assert "every 2s" not in page
        assert f"goclaw db restore {place}/goclaw-" in page

    def test_pressing_twice_makes_one_and_it_can_be_stopped(self, root, place):
        root.post("/backups/now/")
        root.post("/backups/now/")
        assert Job.objects.filter(kind=scheduled.KIND).count() == 1
        root.post("/backups/cancel/")
        assert jobs.backup_running() is None
        assert root.post("/backups/cancel/").status_code == 303


def test_a_place_that_cannot_be_written_fails_the_job(configure):
    configure({"backup.folder": "/proc/nowhere"})
    job = run()
    assert job.state == "failed"
    assert "could not be made" in job.error
