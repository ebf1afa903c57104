"""Neighbourhoods: who stands beside whom, and that they follow every change."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import checking, windows
from memory.drafts import Changes, Source
from memory.models import Memory, MemoryChunk
from memory.write import amend, erase, forget, retire
from tests.memory.making import ADMIN, ask, index_all, note, person, put, turn

pytestmark = pytest.mark.django_db

WORDS = ("alpha", "bravo", "chess", "delta", "eagle", "fable", "grape", "hotel")


def window(memory: Memory) -> set[str]:
    return set(MemoryChunk.objects.get(memory=memory).window_text.split())


def talk(count: int = 5) -> list[Memory]:
    made = [turn(WORDS[number], number) for number in range(count)]
    index_all()
    return made


def test_a_turn_is_read_with_those_beside_it(bag):
    first, second, third, *_ = talk()
    assert {"alpha", "chess"} <= window(second)
    assert "bravo" in window(first)
    assert {"bravo", "delta"} <= window(third)


def test_a_record_alone_has_no_window(bag):
    record = note("alone")
    placed = turn("far away", 40)
    index_all()
    assert window(record) == window(placed) == set()


def test_the_order_of_indexing_does_not_matter(bag):
    last = turn("chess", 2)
    index_all()
    turn("alpha", 0)
    index_all()
    turn("bravo", 1)
    index_all()
    assert "bravo" in window(last)
    assert checking.check() == []


@pytest.mark.parametrize("change", ["forget", "retire", "amend", "expire"])
def test_text_that_goes_leaves_the_windows_at_once(bag, change):
    first, second, third = talk(3)
    if change == "forget":
        forget(ADMIN, second.pk)
    elif change == "retire":
        retire(second, None, via="manual", reason="", actor="me")
    elif change == "amend":
        amend(ADMIN, second.pk, Changes(content="zebra"))
    else:
        from memory import expiry
        from tests.memory.making import expire

        expire(second)
        expiry.sweep()
    assert "bravo" not in window(first) | window(third)
    index_all()
    assert "bravo" not in window(first) | window(third)
    if change == "amend":
        assert "zebra" in window(first) & window(third)
    assert checking.check() == []


def test_foreign_turns_are_no_neighbours(bag):
    ann, bob = person("ann"), person("bob")
    place = lambda position: Source("session", "shared", position)  # noqa: E731
    mine = put(ann, "alpha", scope="personal", source=place(0)).memory
    put(bob, "bravo", scope="personal", source=place(1))
    put(ADMIN, "chess", scope="global", source=place(1))
    turn("delta", 1, session="another")
    index_all()
    assert window(mine) == set()
    hit = ask(ann, "alpha", scope="personal").hits[0]
    assert hit.text == "alpha"


def test_the_pieces_of_a_long_record_are_neighbours(bag):
    record = note("\n\n".join(f"part{number} " + "filler " * 220 for number in range(4)))
    index_all()
    pieces = list(MemoryChunk.objects.filter(memory=record).order_by("position"))
    assert len(pieces) >= 3
    assert "part1" in pieces[0].window_text
    assert "part0" in pieces[1].window_text
    assert set(pieces[1].search_text.split()) <= set(pieces[1].window_text.split())


def test_a_weak_turn_beside_a_strong_one_is_found(keyword_only):
    turn("which bird did you see", 0)
    turn("a heron", 1)
    index_all()
    texts = [hit.text for hit in ask(ADMIN, "bird heron", min_score=0.0).hits]
    assert set(texts) == {"which bird did you see", "a heron"}


@pytest.mark.slow
def test_many_neighbours_at_once(bag):
    made = [turn(f"turn{number}", number) for number in range(450)]
    bag.batch_size = 400
    index_all()
    windows.refresh([record.pk for record in made])
    assert checking.check() == []
    assert {"turn199", "turn201"} <= window(made[200])


steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "forget", "retire", "amend", "index"]),
        st.integers(0, 5),
        st.sampled_from(WORDS),
    ),
    max_size=10,
)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps)
def test_after_any_history_the_windows_are_as_if_made_anew(keyword_only, steps):
    for record in Memory.objects.all():
        erase([record], "test")
    for act, position, word in steps:
        held = Memory.objects.filter(sources__position=position, live_key__isnull=False).first()
        if act == "write":
            turn(f"{word} at{position}", position)
        elif act == "index":
            index_all()
        elif held is None:
            continue
        elif act == "forget":
            forget(ADMIN, held.pk)
        elif act == "retire":
            retire(held, None, via="manual", reason="", actor="me")
        else:
            amend(ADMIN, held.pk, Changes(content=f"{word} changed{position}"))
    index_all()
    before = _windows()
    windows.refresh(Memory.objects.values_list("pk", flat=True))
    assert _windows() == before
    assert checking.check() == []


def _windows() -> dict:
    rows = MemoryChunk.objects.exclude(access="").exclude(access__startswith="h")
    return {row.pk: (row.window_text, row.near, row.source) for row in rows}
