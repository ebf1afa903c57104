"""Records with an end: gone from every answer when it comes, deleted a month later."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from goclaw_site.errors import NotFound
from memory import checking, expiry, queries
from memory.filters import Filters
from memory.models import Memory, MemoryChunk, MemoryRevision
from tests.memory.making import ADMIN, ago, expire, ids, index_all, note, person, put, texts, turn

pytestmark = pytest.mark.django_db


def in_days(days: float):
    return timezone.now() + timedelta(days=days)


def test_until_its_end_it_is_like_any_other(bag):
    record = note("sale today", expires_at=in_days(1))
    index_all()
    assert ids(ADMIN, "sale") == [record.pk]
    assert queries.record(ADMIN, record.pk).pk == record.pk


@pytest.mark.parametrize("indexed", [True, False])
def test_after_its_end_it_is_found_nowhere_even_before_the_sweep(bag, indexed):
    record = note("sale today", expires_at=in_days(1))
    if indexed:
        index_all()
    with time_machine.travel(in_days(1.01), tick=False):
        for history in (False, True):
            assert ids(ADMIN, "sale", include_history=history) == []
            assert not queries.records(ADMIN, Filters(include_history=history))
        with pytest.raises(NotFound):
            queries.record(ADMIN, record.pk)


def test_the_sweep_takes_it_out_of_every_index(bag):
    turn("left", 0)
    record = turn("zanzibar", 1)
    index_all()
    expire(record)
    expiry.sweep()
    assert MemoryChunk.objects.get(memory=record).access == ""
    assert MemoryChunk.objects.exclude(memory=record).get().window_text == ""
    assert Memory.objects.get(pk=record.pk).live_key is None
    assert checking.check() == []
    assert texts(ADMIN, "zanzibar") in ([], ["left"])


def test_a_month_later_it_is_deleted(bag):
    shared = note("shared offer")
    mine = put(person("ann"), "my offer", scope="personal").memory
    index_all()
    for record in (shared, mine):
        Memory.objects.filter(pk=record.pk).update(expires_at=ago(days=31))
    expiry.sweep()
    assert Memory.objects.count() == MemoryChunk.objects.count() == 0
    stones = MemoryRevision.objects.all()
    assert [(stone.old_id, stone.decision) for stone in stones] == [(shared.pk, "deleted")]
    assert checking.check() == []


def test_before_a_month_it_is_kept(bag):
    record = note("offer")
    Memory.objects.filter(pk=record.pk).update(expires_at=ago(days=29))
    expiry.sweep()
    assert Memory.objects.count() == 1


def test_many_at_once(keyword_only, monkeypatch):
    monkeypatch.setattr(expiry, "_BATCH", 4)
    for number in range(11):
        note(f"n{number}")
    index_all()
    Memory.objects.update(expires_at=ago(hours=1))
    expiry.sweep()
    assert Memory.objects.filter(live_key=None).count() == 11
    Memory.objects.update(expires_at=ago(days=40))
    expiry.sweep()
    assert Memory.objects.count() == 0


def test_what_expires_while_it_waits_stays_out(bag):
    record = note("late")
    expire(record)
    expiry.sweep()
    index_all()
    assert ids(ADMIN, "late", include_history=True) == []
    assert checking.check() == []
