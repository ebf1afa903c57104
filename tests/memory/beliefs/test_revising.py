"""`memory revise`: over what is stored, oldest first, where it stopped, undone as one run."""

import time

import pytest

from goclaw_site.errors import Refused
from memory import checking, jobs
from memory.beliefs import revising, revisions, settling
from memory.models import Job, Memory, MemoryBelief, MemoryRevision
from memory.providers import chat
from tests.memory.beliefs.making import fact, live, mine, retired, undo
from tests.memory.beliefs.test_judge import NEW, OLD, OTHER, said
from tests.memory.making import ADMIN
from tests.models import failure

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clean(db, keyword_only):
    yield
    assert checking.check() == []


@pytest.fixture
def stored(no_model):
    """Facts that were written while there was no model."""
    return [fact(text) for text in (OLD, NEW, OTHER)]


def revise(**params) -> Job:
    job = jobs.start_for(ADMIN, revising.KIND, {"dry_run": False, **params})
    while not job.ended:
        jobs.run_slice(str(job.pk))
        job.refresh_from_db()
    return job


def test_a_topic_collapses_onto_its_newest_version(stored, scripted_model):
    texts = [OLD.replace("Hamburg", place) for place in ("Rome", "Oslo")]
    for text in texts:
        fact(text)
    scripted_model(lambda shown: said(*["replaces"] * (shown.count("<note") - 1)))
    job = revise()
    assert (job.state, job.done, job.total) == ("done", 5, 5)
    assert live() == {texts[-1]}
    assert job.result["retired"] == 4
    assert set(MemoryRevision.objects.values_list("via", "run_id")) == {("revise", job.pk)}
    done = revisions.undo_run(ADMIN, job.pk)
    assert len(done.restored) == 4
    assert len(live()) == 5


def test_what_was_judged_or_taken_back_is_not_asked_again(stored, scripted_model):
    model = scripted_model([said("keeps"), said("keeps", "keeps")])
    revise()
    asked = len(model.prompts)
    assert (revise().state, len(model.prompts)) == ("done", asked)
    assert live() == {OLD, NEW, OTHER}


def test_a_dry_run_lists_the_pairs_with_their_texts_and_asks_nobody(stored, scripted_model, ann):
    scripted_model([])
    mine(f"{OLD} zyzzyva", ann), mine(f"{NEW} zyzzyva", ann)
    before = list(Memory.objects.order_by("pk").values())
    job = revise(dry_run=True)
    pairs = {(pair["old_text"], pair["new_text"]) for pair in job.result["pairs"]}
    assert (OLD, NEW) in pairs
    assert job.result["personal"] == 1
    assert "zyzzyva" not in str(job.result)
    assert list(Memory.objects.order_by("pk").values()) == before
    assert not MemoryRevision.objects.exists()


def test_without_a_model_the_rules_are_asked_and_it_says_so(no_model, monkeypatch):
    monkeypatch.setattr("memory.beliefs.settling._contradicted", lambda *given: [])
    first, second = fact("the gateway is 10.0.0.5"), fact("the gateway is 10.0.0.7")
    monkeypatch.undo()
    chat.use(None)
    assert live() == {first.content, second.content}
    job = revise()
    assert job.result["model"]
    assert (retired(), job.result["retired"]) == ({first.content}, 1)
    undo(first)
    revise()
    assert not retired()


def test_a_killed_worker_goes_on_where_it_stopped(stored, scripted_model):
    asked = []

    def answer(shown: str) -> dict:
        if len(asked) == 1:
            asked.append("killed")
            raise KeyboardInterrupt
        asked.append(shown)
        return said(*["unsure"] * (shown.count("<note") - 1))

    scripted_model(answer)
    job = jobs.start_for(ADMIN, revising.KIND, {"dry_run": False})
    with pytest.raises(KeyboardInterrupt):
        jobs.run_slice(str(job.pk))
    Job.objects.update(lease_until=None)
    job.refresh_from_db()
    before = job.done
    jobs.run_slice(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.done) == ("done", 3)
    assert before >= 1
    assert len({*asked}) == len(asked)


def test_it_can_be_cancelled(stored, scripted_model):
    scripted_model(lambda shown: said(*["unsure"] * (shown.count("<note") - 1)))
    job = jobs.start_for(ADMIN, revising.KIND, {"dry_run": False})
    Job.objects.filter(pk=job.pk).update(cancel_requested=True, lease_until=None)
    assert revising.step(job, time.monotonic() + 60) is False
    Job.objects.update(lease_until=None)
    jobs.run_slice(str(job.pk))
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_a_model_that_is_not_there_ends_it_and_loses_nothing(stored, scripted_model):
    for number in range(4):
        fact(f"{OLD} number {number}")
    scripted_model(lambda shown: failure("declined"))
    job = revise()
    assert job.state == "failed"
    assert "started again" in job.error
    assert not retired()
    assert MemoryRevision.objects.filter(final=False).exists()


def test_records_without_a_place_in_the_order_come_first(stored, scripted_model):
    MemoryBelief.objects.filter(memory=stored[1]).delete()
    assert [record.pk for record in revising.records()] == [
        stored[1].pk, stored[0].pk, stored[2].pk,
    ]  # fmt: skip

    settling.index(stored[1])


def test_administrators_alone_start_it(ann):
    with pytest.raises(Refused):
        jobs.start_for(ann, revising.KIND, {"dry_run": True})
