"""The circuit and the accounts of chat models: shared by all processes, and without any text."""

import threading
import uuid
from datetime import timedelta

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone
from pydantic import BaseModel

from memory import jobs, readiness, stats
from memory.models import Job, ModelCall, ModelCircuit
from memory.providers import chat
from memory.providers.chat import accounts, circuit
from memory.providers.failures import KINDS, CallFailed
from tests.memory.making import ADMIN, GATEWAY
from tests.models import ScriptedProvider, failure

pytestmark = pytest.mark.django_db
OF_A_REQUEST = ("rejected", "declined", "unusable", "oversized")


class Word(BaseModel):
    """One word."""

    word: str


def ask(provider, **fields):
    fields = {"system": "", "prompt": "secret words", "purpose": "test", **fields}
    return chat.ask(provider, Word, **fields)


def fail(provider, times=1):
    for _ in range(times):
        with pytest.raises(CallFailed):
            ask(provider)


def rows():
    values = ModelCall.objects.order_by("pk").values_list("outcome", "error_class")
    return list(values)


class TestAccounts:
    def test_one_row_a_call(self, scripted_model):
        job = Job.objects.create(kind="x")
        ask(scripted_model([{"word": "a"}]), job=job)
        row = ModelCall.objects.get()
        assert (row.purpose, row.job, row.model) == ("test", job.pk, "script")
        assert (row.input_tokens, row.output_tokens, row.outcome) == (100, 10, "ok")
        assert "secret" not in str(ModelCall.objects.values())

    def test_a_repair_is_a_call_of_its_own(self, scripted_model):
        ask(scripted_model(["no", {"word": "a"}]))
        assert rows() == [("unusable", "unusable"), ("ok", "")]
        assert accounts.totals(timezone.now() - timedelta(days=1))["input_tokens"] == 200

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "resting"])
    def test_a_failure_of_any_kind_is_recorded(self, scripted_model, kind):
        model = scripted_model(lambda prompt: failure(kind))
        fail(model)
        assert rows() == [("failed", kind)]

    def test_sums_by_purpose_and_by_job(self, scripted_model):
        model = scripted_model(lambda prompt: {"word": "a"})
        job = uuid.uuid4()
        ask(model, purpose="judge"), ask(model, purpose="judge", job=job), ask(model, purpose="x")
        since = timezone.now() - timedelta(hours=1)
        assert [(row.purpose, row.calls, row.tokens) for row in accounts.used(since)] == [
            ("judge", 2, 220),
            ("x", 1, 110),
        ]
        assert [row.calls for row in accounts.used(since, job)] == [1]
        assert accounts.used(timezone.now() + timedelta(hours=1)) == []

    def test_old_rows_go(self, scripted_model, monkeypatch):
        monkeypatch.setattr(accounts, "_AT_ONCE", 2)
        model = scripted_model(lambda prompt: {"word": "a"})
        for _ in range(4):
            ask(model)
        old = list(ModelCall.objects.values_list("pk", flat=True)[:3])
        past = timezone.now() - accounts.KEPT - timedelta(seconds=1)
        ModelCall.objects.filter(pk__in=old).update(at=past)
        jobs.sweep()
        assert ModelCall.objects.count() == 2
        jobs.sweep()
        assert ModelCall.objects.exclude(pk__in=old).count() == ModelCall.objects.count() == 1

    def test_implausible_counts_fit_the_column(self, scripted_model):
        answer = chat.Answer('{"word": "a"}', input_tokens=-5, output_tokens=10**30)
        ask(scripted_model([answer]))
        row = ModelCall.objects.get()
        assert (row.input_tokens, row.output_tokens) == (0, 2_000_000_000)

    def test_stats_show_sums_to_administrators_alone(self, scripted_model):
        ask(scripted_model([{"word": "a"}]), purpose="judge")
        counted = stats.stats(ADMIN)["engine"]["model_calls"]
        assert counted["today"]["calls"] == counted["days_30"]["calls"] == 1
        assert counted["by_purpose_days_30"] == {"judge": 110}
        assert "model_calls" not in str(stats.stats(GATEWAY))


class TestCircuit:
    def test_it_opens_after_failures_in_a_row_and_stops_the_calls(self, scripted_model):
        model = scripted_model(lambda prompt: failure("broken"))
        fail(model, circuit.THRESHOLD)
        asked = len(model.requests)
        with pytest.raises(CallFailed, match="left alone until") as error:
            ask(model)
        assert (error.value.kind, error.value.transient) == ("resting", True)
        assert len(model.requests) == asked
        assert len(rows()) == circuit.THRESHOLD

    def test_a_success_between_starts_the_count_anew(self, scripted_model):
        bad = failure("key")
        model = scripted_model([bad, bad, {"word": "a"}, bad, bad, {"word": "a"}])
        fail(model, 2), ask(model), fail(model, 2), ask(model)
        assert circuit.state(model) == circuit.State(0, None, "key", circuit.state(model).failed_at)

    def test_every_worker_sees_the_same(self, scripted_model):
        one = scripted_model(lambda prompt: failure("broken"))
        other = ScriptedProvider([])
        fail(one, circuit.THRESHOLD)
        fail(other)
        assert other.requests == []

    @pytest.mark.parametrize("kind", OF_A_REQUEST)
    def test_what_lies_in_one_request_does_not_open_it(self, scripted_model, kind):
        model = scripted_model(lambda prompt: failure(kind))
        fail(model, circuit.THRESHOLD + 1)
        assert not circuit.state(model).open

    def test_answers_that_cannot_be_read_do_not_open_it(self, scripted_model):
        model = scripted_model(lambda prompt: "no")
        fail(model, circuit.THRESHOLD + 1)
        assert not circuit.state(model).open

    def test_after_the_pause_one_try_decides_for_all(self, scripted_model):
        model = scripted_model(lambda prompt: failure("broken"))
        fail(model, circuit.THRESHOLD)
        with time_machine.travel(timezone.now() + circuit.FIRST + timedelta(seconds=1)) as clock:
            circuit.enter(model)
            with pytest.raises(CallFailed, match="trying now"):
                circuit.enter(model)
            circuit.failed(model, failure("broken"))
            with pytest.raises(CallFailed, match="left alone"):
                circuit.enter(model)
            clock.shift(circuit.FIRST + timedelta(seconds=1))
            with pytest.raises(CallFailed, match="left alone"):
                circuit.enter(model)  # the second pause is longer
            clock.shift(circuit.FIRST)
            circuit.enter(model)
            circuit.succeeded(model)
            circuit.enter(model)
        assert not circuit.state(model).open

    def test_a_killed_try_lets_another_in_later(self, scripted_model):
        model = scripted_model(lambda prompt: failure("broken"))
        fail(model, circuit.THRESHOLD)
        with time_machine.travel(timezone.now() + circuit.LONGEST) as clock:
            circuit.enter(model)
            clock.shift(timedelta(seconds=model.timeout_seconds + 31))
            circuit.enter(model)

    def test_pauses_grow_to_a_bound(self, scripted_model):
        model = scripted_model([])
        now = timezone.now()
        with time_machine.travel(now, tick=False) as clock:
            pauses = []
            for _ in range(circuit.THRESHOLD - 1):
                circuit.failed(model, failure("slow"))
            for _ in range(40):
                circuit.failed(model, failure("slow"))
                until = ModelCircuit.objects.get().open_until
                assert until is not None
                pauses.append(until - timezone.now())
                clock.shift(pauses[-1])
        assert pauses[0] == circuit.FIRST
        assert pauses == sorted(pauses)
        assert pauses[-1] == circuit.LONGEST

    def test_a_provider_that_asks_for_a_long_pause_gets_it_at_once(self, scripted_model):
        model = scripted_model([failure("busy", 240.0)])
        before = timezone.now()
        fail(model)
        until = circuit.state(model).until
        assert until is not None
        assert timedelta(seconds=239) < until - before < timedelta(seconds=300)

    @pytest.mark.parametrize("asked", [1e300, 10**9])
    def test_no_pause_is_longer_than_the_longest(self, scripted_model, asked):
        model = scripted_model([failure("busy", asked)])
        fail(model)
        until = circuit.state(model).until
        assert until is not None
        assert until <= timezone.now() + circuit.LONGEST

    def test_a_clock_that_goes_back_keeps_nobody_away(self, scripted_model):
        model = scripted_model(lambda prompt: failure("broken"))
        with time_machine.travel(timezone.now() + timedelta(days=400)):
            fail(model, circuit.THRESHOLD)
        assert not circuit.state(model).open
        circuit.enter(model)
        circuit.failed(model, failure("broken"))
        assert circuit.state(model).open

    def test_an_administrator_can_close_it(self, scripted_model):
        model = scripted_model(lambda prompt: failure("broken"))
        fail(model, circuit.THRESHOLD)
        circuit.close(model)
        assert circuit.state(model).failures == 0
        circuit.enter(model)

    def test_readiness_says_how_the_models_are(self, scripted_model, no_model):
        assert readiness.report()["models"] == {"agent": "not set", "background": "not set"}
        model = scripted_model(lambda prompt: failure("broken"))
        assert set(readiness.report()["models"].values()) == {"ok"}
        fail(model, circuit.THRESHOLD)
        assert "left alone until" in readiness.report()["models"]["background"]


@pytest.mark.django_db(transaction=True)
def test_no_model_is_called_in_a_transaction(scripted_model):
    model = scripted_model([])
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        ask(model)
    assert model.requests == []


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_tries_again_after_the_pause(scripted_model):
    model = scripted_model(lambda prompt: failure("broken"))
    fail(model, circuit.THRESHOLD)
    past = timezone.now() - timedelta(seconds=1)
    ModelCircuit.objects.update(open_until=past)
    gate, let_in, kept_out = threading.Barrier(6), [], []

    def enter() -> None:
        try:
            gate.wait(30)
            circuit.enter(model)
            let_in.append(1)
        except CallFailed:
            kept_out.append(1)
        finally:
            connection.close()

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(let_in), len(kept_out)) == (1, 5)


@pytest.mark.django_db(transaction=True)
def test_failures_of_many_workers_are_all_counted_and_make_one_pause(scripted_model):
    model = scripted_model([])
    gate = threading.Barrier(6)

    def stumble() -> None:
        try:
            gate.wait(30)
            circuit.failed(model, failure("broken"))
        finally:
            connection.close()

    threads = [threading.Thread(target=stumble) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    row = ModelCircuit.objects.get()
    assert (row.failures, row.pauses) == (6, 1)
