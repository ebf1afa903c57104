"""The job `dedupe`: what it retires and leaves; stopped, run twice, and taken back."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.duplicates import fill, plant
from goclaw_site.errors import GoclawError, InvalidInput
from memory import checking, deduping, jobs
from memory.access import Principal
from memory.beliefs import revisions
from memory.drafts import Changes
from memory.duplicates import notes, outlines
from memory.models import Job, Memory, MemoryOutline, MemoryRevision
from memory.write import amend, forget
from tests.memory.making import (
    ADMIN,
    ago,
    ids,
    index_all,
    note,
    person,
    put,
)

pytestmark = pytest.mark.django_db
TEXT = "The configuration of the archive is kept in the vault"


@pytest.fixture(autouse=True)
def _quick(keyword_only) -> None:
    """These tests are about records; no vectors are needed."""


def finish(job: Job) -> Job:
    for _ in range(200):
        if job.ended:
            return job
        jobs.run(str(job.pk))
        job.refresh_from_db()
    raise AssertionError(f"still {job}")


def dedupe(ratio: float = 0.85, dry_run: bool = False) -> Job:
    job = finish(jobs.start("dedupe", deduping.params(ratio, dry_run=dry_run), "me"))
    assert job.state == "done", job.error
    return job


def live() -> set[str]:
    return set(Memory.objects.filter(live_key__isnull=False).values_list("content", flat=True))


def test_the_newest_survives_and_the_run_can_be_taken_back():
    for ending in ("", "!", " ."):
        note(TEXT + ending)
    index_all()
    job = dedupe()
    assert live() == {f"{TEXT} ."}
    assert (job.result["retired"], job.result["left"]) == (2, {})
    rows = MemoryRevision.objects.filter(run_id=job.result["run_id"])
    assert {(row.via, row.decision) for row in rows} == {("dedupe", "retired")}
    assert all("ratio 0.9" in row.reason for row in rows)
    assert dedupe().result["retired"] == 0
    revisions.undo_run(ADMIN, rows[0].run_id)
    assert live() == {TEXT, f"{TEXT}!", f"{TEXT} ."}
    assert dedupe().result["retired"] == 0, "nor by another of the texts that stay side by side"
    assert checking.check() == []


def test_what_was_taken_back_is_never_retired_by_the_same_text_again():
    note(TEXT)
    newer = note(f"{TEXT}!")
    job = dedupe()
    revisions.undo_run(ADMIN, job.pk)
    forget(ADMIN, newer.pk)
    note(f"{TEXT}!")
    assert dedupe().result["retired"] == 0
    assert live() == {TEXT, f"{TEXT}!"}


def test_a_dry_run_names_the_pairs_and_changes_nothing():
    older, newer = note(TEXT), note(f"{TEXT}.")
    put(Principal(name="s", system=True, is_admin=True), f"{TEXT} a", scope="wiki")
    put(Principal(name="s", system=True, is_admin=True), f"{TEXT} b", scope="wiki")
    job = dedupe(dry_run=True)
    (pair,) = job.result["pairs"]
    assert (pair["kept"], pair["repeat"]) == (str(newer.pk), str(older.pk))
    assert pair["ratio"] >= 0.99
    assert TEXT not in str(job.result), "a text that is deleted later would live on in the job"
    assert len(live()) == 4
    assert not MemoryRevision.objects.exists()


def test_a_dry_run_names_so_many_and_counts_the_rest(monkeypatch):
    monkeypatch.setattr(deduping, "MOST_NAMED", 2)
    for spaces in range(5):
        note(TEXT.replace(" ", " " * (spaces + 1), 1))
    result = dedupe(dry_run=True).result
    assert (len(result["pairs"]), result["notes"], result["pairs_left_out"]) == (2, 4, 2)


def test_critical_ones_stay_and_a_newer_critical_one_speaks_for_the_older():
    note(TEXT, tags=("critical",))
    note(f"{TEXT}!")
    assert dedupe().result["retired"] == 0
    note(f"{TEXT}.", tags=("critical",))
    dedupe()
    assert live() == {TEXT, f"{TEXT}."}


def test_what_is_unverified_personal_of_another_kind_or_ending_sooner_takes_no_part(ann, bob):
    note(TEXT)
    put(Principal(name="x", gateway=True, confirmed=False), f"{TEXT}!")
    note(f"{TEXT} .", kind="guideline")
    put(ann, f"{TEXT}.", scope="personal")
    put(ann, f"{TEXT};", scope="personal")
    put(bob, f"{TEXT}..", scope="personal")
    put(ADMIN, f"{TEXT}:", scope="global")
    note(f"{TEXT} !", expires_at=ago(hours=-5))
    assert dedupe().result["retired"] == 0


def test_one_that_ends_is_retired_by_one_that_stays():
    note(TEXT, expires_at=ago(hours=-5))
    note(f"{TEXT}!")
    assert dedupe().result["retired"] == 1
    assert live() == {f"{TEXT}!"}


@pytest.mark.parametrize("ratio", [-1, 0, 0.49, 1.01, 85, float("nan"), float("inf")])
def test_a_ratio_out_of_bounds_is_refused_with_the_bounds(ratio):
    with pytest.raises(InvalidInput, match=r"0\.5 to 1"):
        deduping.params(ratio)


def test_a_higher_ratio_finds_less():
    note("Rotate the configuration keys")
    note("Please note: rotate the configuration keys")
    assert dedupe(0.95, dry_run=True).result["notes"] == 0
    assert dedupe(0.7, dry_run=True).result["notes"] == 1


def test_an_amended_record_is_compared_by_its_new_text():
    first = note(TEXT)
    note("The printer jams on thick paper")
    dedupe()
    amend(ADMIN, first.pk, Changes(content="The printer jams on thick paper!"))
    dedupe()
    assert MemoryOutline.objects.filter(memory=first).get().content_hash == (
        Memory.objects.get(pk=first.pk).content_hash
    )
    assert len(live()) == 1


def test_a_change_between_look_and_retirement_is_not_lost():
    note(TEXT)
    newer = note(f"{TEXT}!")
    outlines.outline_records(None)
    (found,) = notes.found(outlines.shared_by_records("", 10), 0.85)
    amend(ADMIN, newer.pk, Changes(content="something else altogether"))
    assert "changed meanwhile" in notes.retire(found, via="dedupe", actor="me", run_id=newer.pk)
    assert live() == {TEXT, "something else altogether"}


def test_it_stops_between_batches_and_a_second_job_goes_on(monkeypatch):
    monkeypatch.setattr(deduping, "_OUTLINES", 1)
    for number in range(6):
        note(f"{TEXT} {number}")
        note(f"{TEXT} {number}!")
    job = jobs.start("dedupe", deduping.params(), "me")
    real = notes.retire

    def then_cancel(*args, **kwargs):
        jobs.cancel(job.pk)
        monkeypatch.setattr(deduping.notes, "retire", real)
        return real(*args, **kwargs)

    monkeypatch.setattr(deduping.notes, "retire", then_cancel)
    finish(job)
    assert job.state == "cancelled"
    assert len(live()) == 11
    assert dedupe().result["retired"] == 5
    assert len(live()) == 6


def test_slices_go_on_where_they_stopped(monkeypatch):
    """A deadline that has always passed: each slice does one thing."""
    monkeypatch.setattr(deduping, "_OUTLINES", 2)
    for number in range(5):
        for ending in ("", "!", " ."):
            note(f"{TEXT} {number}{ending}")
    job = jobs.start("dedupe", deduping.params(), "me")
    slices = 0
    while not job.ended:
        job.refresh_from_db()
        slices += 1
        late = time.monotonic() + 0.001
        if deduping.step(job, late):
            jobs._end(job, Job.DONE)
        assert slices < 200
    assert (len(live()), job.done) == (5, job.total)
    assert checking.check() == []


def test_a_job_that_died_is_taken_up_again(monkeypatch):
    for ending in ("", "!", " ."):
        note(TEXT + ending)
    job = jobs.start("dedupe", deduping.params(), "me")
    real, calls = notes.retire, []

    def die(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(deduping.notes, "retire", die)
    with pytest.raises(KeyboardInterrupt):
        jobs.run(str(job.pk))
    jobs.run(str(job.pk))  # a second worker meets the lease of the dead one
    assert len(live()) == 2
    Job.objects.filter(pk=job.pk).update(lease_until=ago(seconds=1))
    finish(job)
    assert live() == {f"{TEXT} ."}


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["write", "dedupe", "undo", "amend", "forget", "dedupe", "undo record"]),
        st.integers(0, 5),
        st.sampled_from(["", "!", ".", " ;", " !"]),
    ),
    max_size=12,
)


def act(kind: str, at: int, ending: str) -> None:
    held = list(Memory.objects.order_by("created_at", "pk"))
    runs = list(MemoryRevision.objects.filter(via="dedupe").values_list("run_id", flat=True))
    if kind == "write":
        note(TEXT + ending)
    elif kind == "dedupe":
        dedupe()
    elif kind == "undo" and runs:
        revisions.undo_run(ADMIN, runs[at % len(runs)])
    elif held:
        change(kind, held[at % len(held)], TEXT + ending)


def change(kind: str, one: Memory, text: str) -> None:
    if kind == "amend":
        amend(ADMIN, one.pk, Changes(content=text))
    elif kind == "forget":
        forget(ADMIN, one.pk)
    elif kind == "undo record":
        revisions.undo_record(ADMIN, one.pk)


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=ACTS)
def test_nothing_is_lost_and_no_vetoed_pair_is_retired_again(acts):
    for record in Memory.objects.all():
        forget(ADMIN, record.pk)
    MemoryRevision.objects.all().delete()
    for ending in ("", "!", "."):
        note(TEXT + ending)
    for one in acts:
        before = {row.pk for row in MemoryRevision.objects.filter(undone_at__isnull=False)}
        taken_back = {
            frozenset((row.old_hash, row.new_hash))
            for row in MemoryRevision.objects.filter(pk__in=before)
        }
        newest = MemoryRevision.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        known = set(Memory.objects.values_list("pk", flat=True))
        try:
            act(*one)
        except GoclawError:
            continue
        gone = known - set(Memory.objects.values_list("pk", flat=True))
        assert len(gone) <= (one[0] == "forget")
        fresh = MemoryRevision.objects.filter(pk__gt=newest, via="dedupe", decision="retired")
        assert not taken_back & {frozenset((row.old_hash, row.new_hash)) for row in fresh}
    retired = set(Memory.objects.filter(live_key=None).values_list("pk", flat=True))
    marked = set(Memory.objects.filter(tags__tag="superseded").values_list("pk", flat=True))
    assert retired == marked
    index_all()
    assert checking.check() == []


@pytest.mark.slow
def test_planted_duplicates_are_found_and_look_alikes_are_not():
    """The benchmark's measurement at a fiftieth of its size."""
    planted = plant(notes=2000, repeated=0.05, look_alikes=200)
    made = fill(planted.texts)
    dedupe()
    alive = set(Memory.objects.filter(live_key__isnull=False).values_list("pk", flat=True))
    retired = {at for at, pk in enumerate(made) if pk not in alive}
    assert retired <= set(planted.repeated)
    assert len(retired) >= 0.95 * len(planted.repeated)
    assert ids(ADMIN, planted.texts[0])


def test_people_need_to_be_administrators(ann):
    with pytest.raises(GoclawError):
        jobs.start_for(ann, "dedupe", deduping.params())
    assert jobs.start_for(person("root", is_admin=True), "dedupe", deduping.params()).pk
