"""`memory check` finds every fault that it says it looks for: each rule has one planted here."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.db.models import F

from memory import checking, expiry, providers
from memory import chunks as chunks_module
from memory.drafts import Changes
from memory.models import (
    Memory,
    MemoryChunk,
    MemoryRevision,
    MemorySource,
    MemorySubject,
    MemoryTag,
    MemoryVeto,
)
from memory.write import amend, forget, live_key, retire
from tests.memory import keywordrows
from tests.memory.making import (
    ADMIN,
    BagProvider,
    ago,
    expire,
    index_all,
    note,
    person,
    put,
    serve,
    turn,
)

pytestmark = pytest.mark.django_db
NOBODYS = uuid.UUID(int=0xFEED)


@dataclass
class World:
    """A clean index with a bit of everything."""

    plain: Memory
    old: Memory
    personal: Memory


@pytest.fixture
def world(bag) -> World:
    plain = note("plain words", tags=("t",))
    note("more words\n\n" * 400)
    for number in range(5):
        turn(f"turn number{number}", number)
    old = note("old words")
    retire(old, plain, via="rule", reason="", actor="rule")
    personal = put(person("ann"), "my own words", scope="personal").memory
    turn("by ann", 3, scope="global")
    ended = note("ended words")
    index_all()
    expire(ended)
    expiry.sweep()
    note("the gateway is 10.0.0.5", kind="fact")
    amend(ADMIN, note("before").pk, Changes(content="after"))
    forget(ADMIN, note("gone").pk)
    return World(plain, old, personal)


def chunk_of(memory: Memory) -> MemoryChunk:
    return MemoryChunk.objects.filter(memory=memory).earliest("pk")


def chunks(memory: Memory):
    return MemoryChunk.objects.filter(memory=memory)


def orphan_chunk(world: World) -> None:
    row = chunk_of(world.plain)
    row.pk, row.memory_id, row.key = None, NOBODYS, "k"
    row.save(force_insert=True)


def orphan_tag(world: World) -> None:
    MemoryTag.objects.create(memory_id=NOBODYS, tag="t")


def vector_of_another_length(world: World) -> None:
    chunks(world.plain).update(embedding=[1.0, 0.0], embedding_dim=2)


def vector_unlike_its_row(world: World) -> None:
    chunks(world.plain).update(embedding=[1.0, 0.0])


def vector_gone(world: World) -> None:
    chunks(world.plain).update(embedding=None)


def keyword_row_gone(world: World) -> None:
    keywordrows.remove(MemoryChunk.objects.exclude(search_text="").earliest("pk"))


def keyword_row_of_old_text(world: World) -> None:
    keywordrows.replace(chunk_of(world.plain), terms="quite another")


def keyword_row_under_a_foreign_token(world: World) -> None:
    keywordrows.replace(chunk_of(world.personal), access="sglobal0")


def live_against_a_decision(world: World) -> None:
    old = Memory.objects.get(pk=world.old.pk)
    old.tags.all().delete()
    old.live_key = live_key(old.scope, old.owner_id, old.kind, old.content_hash)
    old.save()
    chunks_module.retag(old)


def neighbour_of_another_owner(world: World) -> None:
    foreign = chunk_of(world.personal).pk
    row = MemoryChunk.objects.get(text="turn number1")
    MemoryChunk.objects.filter(pk=row.pk).update(near=[foreign, *row.near[1:]])


def neighbour_that_is_gone(world: World) -> None:
    row = MemoryChunk.objects.get(text="turn number1")
    MemoryChunk.objects.filter(pk=row.pk).update(near=[*row.near[:-1], 99999])


def neighbour_that_was_retired(world: World) -> None:
    row = MemoryChunk.objects.get(text="turn number1")
    MemoryChunk.objects.filter(pk=row.pk).update(near=[chunk_of(world.old).pk, *row.near[1:]])


Plant = Callable[[World], object]


def speaker_gone(world: World) -> None:
    MemoryChunk.objects.filter(pk=chunk_of(world.plain).pk).update(
        duplicate_of="gone", access=chunks_module.REPEAT + world.plain.access
    )


def foreign_speaker(world: World) -> None:
    MemoryChunk.objects.filter(pk=chunk_of(world.plain).pk).update(
        duplicate_of=chunk_of(world.personal).key, access=chunks_module.REPEAT + world.plain.access
    )


FAULTS: list[tuple[str, str, Plant]] = [
    ("database", "a fault of its own", lambda w: keywordrows.damage_the_database()),
    ("orphan_chunks", "a chunk without its record", orphan_chunk),
    ("orphan_tags", "a tag without its record", orphan_tag),
    ("repeats", "a chunk that a gone one speaks for", speaker_gone),
    ("repeats", "a chunk that another scope's speaks for", foreign_speaker),
    ("unchunked", "no chunks", lambda w: chunks(w.plain).delete()),
    ("missing_vectors", "no model", lambda w: chunks(w.plain).update(embedding_model="")),
    ("wrong_dimensions", "another length", vector_of_another_length),
    ("wrong_dimensions", "another length than it says", vector_unlike_its_row),
    ("wrong_dimensions", "a model and no vector", vector_gone),
    ("wrong_access", "public", lambda w: chunks(w.personal).update(access="sglobal0")),
    ("wrong_access", "another person", lambda w: chunks(w.personal).update(access="pffx0")),
    ("wrong_access", "live again", lambda w: chunks(w.old).update(access="sagentnotes0")),
    ("wrong_access", "hidden for no reason", lambda w: chunks(w.plain).update(access="")),
    ("wrong_text", "other words", lambda w: chunks(w.plain).update(text="plain lies!")),
    ("wrong_text", "another place", lambda w: chunks(w.plain).update(start=F("start") + 1)),
    ("wrong_keys", "hash", lambda w: _records(w.plain).update(content_hash="0" * 64)),
    ("wrong_keys", "live key", lambda w: _records(w.plain).update(live_key="0" * 64)),
    ("wrong_keys", "kind without its key", lambda w: _records(w.plain).update(kind="fact")),
    ("superseded", "tagged and live", lambda w: MemoryTag(memory=w.plain, tag="superseded").save()),
    ("superseded", "neither", lambda w: w.old.tags.all().delete()),
    ("decisions", "retired by nobody", lambda w: MemoryRevision.objects.all().delete()),
    (
        "decisions",
        "retired by what was taken back",
        lambda w: MemoryRevision.objects.update(undone_at=ago(days=1)),
    ),
    ("decisions", "live against a decision", live_against_a_decision),
    ("subjects", "gone", lambda w: MemorySubject.objects.all().delete()),
    ("subjects", "foreign", lambda w: MemorySubject.objects.update(access="p7x0")),
    ("subjects", "of a note", lambda w: MemorySubject(memory=w.plain, key="x").save()),
    ("vetoes", "the wrong way round", lambda w: MemoryVeto(access="x", low="b", high="a").save()),
    (
        "foreign_sources",
        "token",
        lambda w: MemorySource.objects.filter(position=0).update(access="p7x0"),
    ),
    ("foreign_neighbours", "another owner", neighbour_of_another_owner),
    ("foreign_neighbours", "gone", neighbour_that_is_gone),
    ("foreign_neighbours", "retired", neighbour_that_was_retired),
    ("keyword_rows", "a row is missing", keyword_row_gone),
    ("keyword_rows", "a row too many", lambda w: keywordrows.leave_one_over()),
    ("keyword_rows", "old text", keyword_row_of_old_text),
    ("keyword_rows", "a foreign token", keyword_row_under_a_foreign_token),
]


def _records(memory: Memory):
    return Memory.objects.filter(pk=memory.pk)


def test_a_clean_index_has_no_findings(world):
    assert checking.check() == []
    index_all()
    assert checking.check() == []


@pytest.fixture
def swept():
    """Take out what the test's own end would stumble over."""
    yield
    MemoryChunk.objects.filter(memory_id=NOBODYS).delete()
    MemoryTag.objects.filter(memory_id=NOBODYS).delete()


@pytest.mark.parametrize(
    ("rule", "plant"), [(r, p) for r, _, p in FAULTS], ids=[f"{r}: {what}" for r, what, _ in FAULTS]
)
def test_the_rule_finds_the_planted_fault(world, swept, rule, plant):
    plant(world)
    found = {finding.name: finding for finding in checking.check()}
    assert rule in found
    finding = found[rule]
    assert finding.count >= len(finding.samples) >= 1
    assert finding.words
    assert "words" not in "".join(finding.samples)


def test_every_rule_has_a_planted_fault():
    ours = {name for name in checking.RULES if not name.startswith("wiki_")}
    assert {rule for rule, _, _ in FAULTS} == ours, "those of the wiki stand with its tests"


def test_samples_are_few(bag):
    for number in range(12):
        note(f"note {number}")
    index_all()
    MemoryChunk.objects.all().delete()
    finding = checking.check()[0]
    assert (finding.name, finding.count, len(finding.samples)) == ("unchunked", 12, 5)


def test_without_a_provider_missing_vectors_are_no_fault(bag, configure):
    note("words")
    index_all()
    MemoryChunk.objects.update(embedding=None, embedding_model="", embedding_dim=0)
    configure({"memory.search.provider": "none"})
    providers.reset()
    assert checking.check() == []


def test_two_models_side_by_side_are_no_fault():
    serve(BagProvider("one", 48))
    note("alpha")
    index_all()
    serve(BagProvider("two", 32))
    note("beta")
    index_all()
    assert checking.check() == []


def test_it_changes_nothing(world):
    before = list(MemoryChunk.objects.order_by("pk").values_list("pk", "access", "search_text"))
    checking.check()
    checking.check()
    after = list(MemoryChunk.objects.order_by("pk").values_list("pk", "access", "search_text"))
    assert before == after
