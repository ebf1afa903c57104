"""What every search backend keeps: candidates already filtered, the best first, honest counts."""

import uuid
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from memory.access import access_token, visible_tokens
from memory.chunks import HISTORY
from memory.drafts import Source
from memory.filters import Filters
from memory.models import MemoryChunk
from memory.search import backends
from memory.search.backends.base import Reach
from memory.text import query_terms
from memory.write import forget, retire
from tests.memory.making import ADMIN, BagProvider, index_all, note, person, put, serve

pytestmark = pytest.mark.django_db


@pytest.fixture
def backend():
    """The one of the database that the tests run on: `make test-backends` runs the others."""
    return backends.current()


@pytest.fixture
def bag() -> BagProvider:
    return serve(BagProvider())


def reach(principal=ADMIN, **filters) -> Reach:
    wanted = Filters(**filters)
    tokens = visible_tokens(principal, wanted.scopes)
    if wanted.include_history:
        tokens |= {HISTORY + token for token in tokens}
    return Reach(frozenset(tokens), wanted)


def contents(chunk_ids) -> list[str]:
    rows = MemoryChunk.objects.in_bulk(chunk_ids)
    return [rows[pk].text for pk in chunk_ids]


def by_text(backend, query, where=None, limit=50) -> list[str]:
    return contents(backend.by_text(query_terms(query), where or reach(), limit))


def by_vector(backend, bag, query, where=None, limit=50) -> list[str]:
    near = backend.by_vector(bag.query(query), bag.model, where or reach(), limit)
    return contents([found.chunk for found in near])


def test_any_of_the_terms_brings_a_chunk_up_and_the_best_is_first(backend, bag):
    note("grey heron"), note("grey heron by the lake"), note("grey wolf"), note("lake")
    index_all()
    found = by_text(backend, "heron lake")
    assert found[0] == "grey heron by the lake"
    assert set(found) == {"grey heron", "grey heron by the lake", "lake"}
    assert len(by_text(backend, "grey", limit=2)) == 2


def test_nothing_to_look_for_is_nothing_found(backend, bag):
    note("grey heron")
    index_all()
    nothing = Reach(frozenset(), Filters())
    assert backend.by_text([], reach(), 10) == []
    assert backend.by_text(["heron"], nothing, 10) == []
    assert backend.by_vector(bag.query("heron"), "bag", nothing, 10) == []
    assert backend.by_vector(bag.query("heron"), "another model", reach(), 10) == []
    assert backend.vectors("bag", reach(), [])[0] == []
    assert backend.statistics(["heron"], nothing).total == 0


def test_the_nearest_vectors_first_with_their_cosines(backend, bag):
    note("grey heron"), note("grey heron lake"), note("steam engine")
    index_all()
    vector = bag.query("grey heron")
    near = backend.by_vector(vector, "bag", reach(), 3)
    assert contents([found.chunk for found in near])[:2] == ["grey heron", "grey heron lake"]
    cosines = [found.cosine for found in near]
    assert cosines == sorted(cosines, reverse=True)
    assert cosines[0] == pytest.approx(1, abs=0.01)
    assert len(backend.by_vector(vector, "bag", reach(), 1)) == 1
    held, rows = backend.vectors("bag", reach(), [found.chunk for found in near])
    exact = dict(zip(held, rows @ vector, strict=True))
    for found in near:
        assert found.cosine == pytest.approx(float(exact[found.chunk]), abs=1e-4)


def test_only_what_the_tokens_name(backend, bag):
    ann, bob = person("ann"), person("bob")
    put(ann, "heron of ann", scope="personal"), put(bob, "heron of bob", scope="personal")
    note("heron of all"), note("heron of rules", scope="agent_config")
    index_all()
    for look in (
        lambda where: by_text(backend, "heron", where),
        lambda where: by_vector(backend, bag, "heron", where),
    ):
        assert set(look(reach(ann))) == {"heron of ann", "heron of all"}
        assert set(look(reach(ADMIN))) == {"heron of all", "heron of rules"}
        assert look(reach(ann, scopes=("personal",))) == ["heron of ann"]
        assert look(reach(ann, scopes=())) == []
    chunk = MemoryChunk.objects.get(text="heron of bob")
    assert backend.vectors("bag", reach(ann), [chunk.pk])[0] == []
    assert backend.statistics(["heron"], reach(ann)).holding == {"heron": 2}


def test_the_history_only_where_its_token_is_named(backend, bag):
    old = note("heron then")
    index_all()
    retire(old, None, via="manual", reason="", actor="me")
    assert by_text(backend, "heron") == by_vector(backend, bag, "heron") == []
    past = reach(include_history=True)
    assert by_text(backend, "heron", past) == by_vector(backend, bag, "heron", past)


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"kinds": ("fact",)}, {"heron fact"}),
        ({"kinds": ("fact", "note")}, {"heron fact", "heron tagged", "heron placed", "heron old"}),
        ({"tags": ("a",)}, {"heron tagged"}),
        ({"tags": ("a", "b")}, {"heron tagged"}),
        ({"tags": ("a", "c")}, set()),
        ({"domain": "net"}, {"heron fact"}),
        ({"agent": "scout"}, {"heron placed"}),
        ({"source": "log"}, {"heron placed"}),
        ({"until": timezone.now() - timedelta(days=30)}, {"heron old"}),
        ({"since": timezone.now() - timedelta(days=30), "kinds": ("fact",)}, {"heron fact"}),
        ({"domain": "nowhere"}, set()),
    ],
)
def test_filters_narrow_both_sides_alike(backend, bag, filters, wanted):
    note("heron fact", kind="fact", domain="net")
    note("heron tagged", tags=("a", "b"))
    note("heron placed", agent="scout", source=Source("file", "log"))
    note("heron old", occurred_at=timezone.now() - timedelta(days=90))
    index_all()
    where = reach(**filters)
    assert set(by_text(backend, "heron", where)) == wanted
    assert set(by_vector(backend, bag, "heron", where)) == wanted


def test_statistics_count_what_the_tokens_name(backend, bag):
    ann = person("ann")
    for number in range(3):
        note(f"heron {number}")
    put(ann, "heron wolf", scope="personal")
    index_all()
    counted = backend.statistics(["heron", "wolf", "nowhere"], reach(ADMIN))
    assert (counted.total, dict(counted.holding)) == (3, {"heron": 3, "wolf": 0, "nowhere": 0})
    counted = backend.statistics(["heron", "wolf"], reach(ann))
    assert (counted.total, dict(counted.holding)) == (4, {"heron": 4, "wolf": 1})


def test_what_is_deleted_is_gone_at_once(backend, bag):
    record = note("grey heron")
    index_all()
    assert by_vector(backend, bag, "heron") == ["grey heron"]
    forget(ADMIN, record.pk)
    assert by_text(backend, "heron") == by_vector(backend, bag, "heron") == []


@pytest.mark.parametrize("text", ['"', "'; --", "NEAR(a b)", "a* OR b", "col:x", "\\", "漢字"])
def test_terms_are_data(backend, bag, text):
    note(f"plain text {text}")
    index_all()
    assert backend.by_text([text, f'{text}"{text}'], reach(), 10) in ([], [_only()])
    assert backend.statistics([text], reach()).total == 1


def _only() -> int:
    return MemoryChunk.objects.get().pk


def test_a_token_is_whole_or_nothing(backend, bag):
    """Person 1 is not person 17."""
    assert access_token("personal", 1) not in access_token("personal", 17)
    one = person("one")
    put(one, "heron", scope="personal")
    index_all()
    other = Reach(frozenset({access_token("personal", one.person)[:-2]}), Filters())
    assert backend.by_text(["heron"], other, 10) == []


@pytest.mark.slow
def test_many_chunks_are_no_matter(backend, bag):
    """Lists of ids stay under every driver's limit of variables."""
    from memory import write
    from memory.drafts import Draft

    drafts = [Draft(f"heron {number}", scope="agent_notes") for number in range(500)]
    write.remember_many(ADMIN, drafts)
    bag.batch_size = 400
    index_all()
    assert len(backend.by_vector(bag.query("heron"), "bag", reach(), 500)) == 500
    everything = list(MemoryChunk.objects.values_list("pk", flat=True))
    held, rows = backend.vectors("bag", reach(), everything)
    assert (len(held), rows.shape) == (500, (500, 48))
    assert np.isfinite(rows).all()
    assert (
        len(set(map(uuid.UUID, map(str, MemoryChunk.objects.values_list("memory", flat=True)))))
        == 500
    )
