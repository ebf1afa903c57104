"""Redis carries the messages: told after the commit, missed by nobody when they are lost."""

import shutil
import subprocess
import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler

from memory import jobs, queue, readiness, schedules
from memory.models import Memory
from tests.goclaw_site.running import free_port, until
from tests.memory.making import ago, note

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def server():
    redis = pytest.importorskip("redis")
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed (apt install redis-server)")
    port = free_port()
    words = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen([*words, "--appendonly", "no"], stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}/0?socket_timeout=5"
    client = redis.from_url(url)

    def answers() -> bool:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False

    assert until(answers, 30)
    yield url, client
    process.terminate()
    process.wait(20)


@pytest.fixture
def broker(server, monkeypatch, configure):
    """django-q reads its settings once, at import."""
    url, client = server
    client.flushall()
    monkeypatch.setattr(Conf, "ORM", None)
    monkeypatch.setattr(Conf, "REDIS", url)
    configure({"queue.redis": url})
    return client


def test_a_write_wakes_a_worker_after_its_commit(broker, keyword_only):
    with transaction.atomic():
        note("heron")
        assert queue.waiting() == 0
    assert queue.waiting() == 1
    assert OrmQ.objects.count() == 0
    assert readiness.report()["queue"] == {"waiting": 1}


def test_what_is_rolled_back_is_told_to_nobody(broker, keyword_only):
    with transaction.atomic():
        note("heron")
        transaction.set_rollback(True)
    assert queue.waiting() == 0


def test_a_flushed_redis_loses_no_work(broker, keyword_only):
    record = note("heron")
    job = jobs.start("reindex", {}, "me")
    broker.flushall()
    note("a later write believes that somebody was told")
    assert queue.waiting() == 0
    long_ago = ago(minutes=5)
    Memory.objects.filter(pk=record.pk).update(created_at=long_ago)
    type(job).objects.filter(pk=job.pk).update(created_at=long_ago)
    jobs.sweep()
    assert queue.waiting() == 2
    jobs.index_waiting()
    record.refresh_from_db()
    assert record.index_state == "indexed"


def test_a_redis_that_is_gone_refuses_no_write(keyword_only, monkeypatch, configure):
    pytest.importorskip("redis")
    url = f"redis://127.0.0.1:{free_port()}/0?socket_connect_timeout=1"
    monkeypatch.setattr(Conf, "ORM", None)
    monkeypatch.setattr(Conf, "REDIS", url)
    configure({"queue.redis": url})
    record = note("heron")
    assert Memory.objects.filter(pk=record.pk).exists()
    assert "does not answer" in readiness.report()["queue"]["broker"]


def test_several_hosts_fire_a_schedule_once():
    schedules.install()
    Schedule.objects.filter(name=schedules.SWEEP).update(
        next_run=timezone.now() - timedelta(seconds=5)
    )
    Schedule.objects.exclude(name=schedules.SWEEP).delete()
    gate = threading.Barrier(4)

    def host() -> None:
        gate.wait(30)
        scheduler(broker=get_broker())
        connection.close()

    hosts = [threading.Thread(target=host) for _ in range(4)]
    for each in hosts:
        each.start()
    for each in hosts:
        each.join(60)
    assert OrmQ.objects.count() == 1
