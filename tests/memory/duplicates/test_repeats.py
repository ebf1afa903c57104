"""Chunks that another one speaks for: left out of search, and never lost to it."""

import uuid

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goclaw_site.errors import GoclawError
from memory import checking, chunks, expiry, jobs, ownership
from memory.drafts import Changes
from memory.duplicates import repeats
from memory.duplicates.outlines import lacking_chunks, outline_chunks, shared_by_chunks
from memory.models import Memory, MemoryChunk
from memory.write import amend, forget, retire
from tests.memory.making import (
    ADMIN,
    SERVER,
    BagProvider,
    expire,
    ids,
    index_all,
    note,
    person,
    put,
    serve,
)

pytestmark = pytest.mark.django_db
PAGE = "The archive keeps every invoice for ten years"


def mark_all(least: float = 0.85) -> int:
    """Mark what repeats, as the job does."""
    repeats.release_unspoken()
    outlines = shared_by_chunks("", 10_000)
    return sum(repeats.mark(pair) for pair in list(repeats.found(outlines, least)))


def wiki(content: str) -> Memory:
    return put(SERVER, content, scope="wiki").memory


def twins() -> tuple[Memory, Memory]:
    """Two pages that say the same; the second is the newer and speaks for both."""
    pair = wiki(PAGE), wiki(f"{PAGE}.")
    index_all()
    assert mark_all() == 1
    return pair


def test_of_two_chunks_the_newer_one_answers(bag):
    older, newer = twins()
    assert ids(ADMIN, "invoice archive") == [newer.pk]
    assert MemoryChunk.objects.get(memory=older).duplicate_of == newer.chunks.get().key
    assert checking.check() == []
    assert mark_all() == 0


def test_the_repeat_is_found_by_what_is_asked_of_its_own_record(bag):
    one = put(ADMIN, PAGE, scope="global", tags=("old",)).memory
    two = put(ADMIN, f"{PAGE}!", scope="global", tags=("new",)).memory
    index_all()
    assert mark_all() == 1
    assert ids(ADMIN, "invoice archive") == [two.pk]
    assert ids(ADMIN, "invoice archive", tags=["old"]) == [one.pk]


def test_nothing_is_marked_across_scope_owner_or_standing(bag, ann, bob):
    wiki(PAGE)
    put(ADMIN, f"{PAGE}.", scope="global")
    put(ann, f"{PAGE}!", scope="personal")
    put(bob, f"{PAGE};", scope="personal")
    note(f"{PAGE} .", tags=("critical",))
    note(f"{PAGE}  !")
    index_all()
    assert mark_all() == 0


def test_inside_one_persons_records_a_repeat_is_marked(bag, ann):
    put(ann, PAGE, scope="personal")
    put(ann, f"{PAGE}!", scope="personal")
    index_all()
    assert mark_all() == 1
    assert len(ids(ann, "invoice archive")) == 1
    target = person("carol")
    ownership.move(ADMIN, ann.person, target.person)
    assert checking.check() == []
    assert len(ids(target, "invoice archive")) == 1


def test_marks_are_kept_over_a_reindex(bag):
    _, newer = twins()
    job = jobs.start("reindex", {"missing": False}, "me")
    while not job.ended:
        jobs.run(str(job.pk))
        job.refresh_from_db()
    assert ids(ADMIN, "invoice archive") == [newer.pk]
    assert checking.check() == []


@pytest.mark.parametrize(
    "goes",
    [
        lambda kept: forget(SERVER, kept.pk),
        lambda kept: amend(SERVER, kept.pk, Changes(content="quite another page")),
        lambda kept: retire(kept, None, via="manual", reason="", actor="me"),
        lambda kept: (expire(kept), expiry.sweep()),
    ],
    ids=["deleted", "amended", "retired", "expired"],
)
def test_where_the_kept_chunk_goes_the_other_is_found_again(bag, goes):
    older, newer = twins()
    newer.refresh_from_db()
    goes(newer)
    assert older.pk in ids(ADMIN, "invoice archive")
    index_all()
    assert older.pk in ids(ADMIN, "invoice archive")
    assert checking.check() == []


def test_a_chunk_that_lost_its_speaker_is_released_by_the_next_run(bag):
    older, newer = twins()
    MemoryChunk.objects.filter(memory=newer).delete()
    assert [finding.name for finding in checking.check()] == ["unchunked", "repeats"]
    assert repeats.release_unspoken() == 1
    assert ids(ADMIN, "invoice archive") == [older.pk]


def test_a_change_between_look_and_mark_marks_nothing(bag):
    wiki(PAGE)
    newer = wiki(f"{PAGE}.")
    index_all()
    (pair,) = repeats.found(shared_by_chunks("", 10), 0.85)
    amend(SERVER, newer.pk, Changes(content="quite another page"))
    assert repeats.mark(pair) is False
    index_all()
    assert repeats.mark(pair) is False
    assert not MemoryChunk.objects.exclude(duplicate_of="").exists()


def test_chunks_speak_only_for_live_ones_of_their_own_token(bag):
    one, two = wiki(PAGE).pk, note(PAGE).pk
    index_all()
    with pytest.raises(ValueError, match="scope and owner"):
        chunks.mark_repeat(MemoryChunk.objects.get(memory=one), MemoryChunk.objects.get(memory=two))


def test_outlines_of_chunks_of_older_rules_are_made_anew(bag):
    wiki(PAGE)
    index_all()
    assert not lacking_chunks().exists()
    before = MemoryChunk.objects.get().outline
    MemoryChunk.objects.update(outline="0:old")
    assert outline_chunks(None)[0] == 1
    assert outline_chunks(None) == (0, None)
    assert MemoryChunk.objects.get().outline == before


ENDINGS = ("", ".", "!", " ;", "  ", "...")
ACTS = st.tuples(
    st.sampled_from(
        ["write", "mark", "amend", "forget", "retire", "expire", "sweep", "index", "mark"]
    ),
    st.integers(0, 7),
    st.sampled_from(ENDINGS),
    st.sampled_from(["invoice", "voucher"]),
)


def act(kind: str, at: int, ending: str, word: str) -> None:
    live = list(Memory.objects.filter(live_key__isnull=False).order_by("created_at"))
    text = f"The archive keeps every {word} for ten years{ending}"
    one = live[at % len(live)] if live else None
    if kind == "write":
        wiki(text)
    elif kind == "index":
        index_all()
    elif kind == "mark":
        mark_all()
    elif kind == "sweep":
        expiry.sweep()
    elif one is not None:
        change(kind, one, text)


def change(kind: str, one: Memory, text: str) -> None:
    if kind == "amend":
        amend(SERVER, one.pk, Changes(content=text))
    elif kind == "forget":
        forget(SERVER, one.pk)
    elif kind == "retire":
        retire(one, None, via="manual", reason="", actor="me")
    elif kind == "expire":
        expire(one)
        expiry.sweep()


def answered(word: str) -> set[uuid.UUID]:
    """Records found by the word, and those that a found chunk speaks for."""
    met = set(ids(ADMIN, word, limit=50))
    keys = MemoryChunk.objects.filter(memory__in=met).values("key")
    return met | set(
        MemoryChunk.objects.filter(duplicate_of__in=keys).values_list("memory_id", flat=True)
    )


@pytest.mark.slow
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(ACTS, min_size=4, max_size=16))
def test_nothing_live_ever_becomes_unfindable(django_db_blocker, keyword_only, acts):
    for known in Memory.objects.all():
        forget(SERVER, known.pk)
    for number in range(3):
        act("write", 0, ENDINGS[number], "invoice")
    for one in acts:
        try:
            act(*one)
        except GoclawError:
            continue
        for word in ("invoice", "voucher"):
            live = Memory.objects.filter(live_key__isnull=False, content__contains=word)
            wanted = {record.pk for record in live.exclude(expires_at__lt=timezone.now())}
            assert wanted <= answered(word), (one, wanted)
    index_all()
    assert checking.check() == []


def test_one_model_change_leaves_the_marks(bag):
    _, newer = twins()
    serve(BagProvider("two", 32))
    job = jobs.start("reindex", {"missing": True}, "me")
    while not job.ended:
        jobs.run(str(job.pk))
        job.refresh_from_db()
    assert ids(ADMIN, "invoice archive") == [newer.pk]
    assert checking.check() == []
