"""The pure parts of the pages: sentences, differences, addresses, times."""

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from memory.pages import differences, sentences, shell, tags
from memory.pages.addresses import Address, canonical


def glued(parts, kinds):
    return "".join(part.text for part in parts if part.kind in kinds)


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_parts_of_a_difference_make_both_texts(before, after):
    parts = differences.compare(before, after)
    assert parts is not None
    assert glued(parts, ("same", "del")) == before
    assert glued(parts, ("same", "ins")) == after


def test_far_unchanged_text_is_left_out_and_huge_changes_are_not_compared():
    words = " ".join(f"word{n}" for n in range(500))
    parts = differences.compare(f"{words} old {words}", f"{words} new {words}")
    assert [part.kind for part in parts or ()] == ["gap", "same", "del", "ins", "same", "gap"]
    many = " ".join(f"other{n}" for n in range(2_000))
    assert differences.compare(words * 4, many) is None


def test_addresses_and_words_with_signs_inside_stay_whole():
    parts = differences.compare("gateway is 10.0.0.5.", "gateway is 10.0.0.7.")
    assert ("del", "10.0.0.5") in [(part.kind, part.text) for part in parts or ()]


def test_an_address_toggles_and_forgets_places():
    address = canonical("/", [("q", ["x y"]), ("tag", ["a", ""]), ("cursor", ["c"])])
    assert str(address.bare()) == "/?q=x+y&tag=a"
    assert str(address.bare().toggled("tag", "b")) == "/?q=x+y&tag=a&tag=b"
    assert str(address.bare().toggled("tag", "a")) == "/?q=x+y"
    assert str(Address("/")) == "/"


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=1, seconds=1), "1 minute ago"),
        (timedelta(hours=5), "5 hours ago"),
        (timedelta(days=1, hours=2), "yesterday"),
        (timedelta(days=41), "41 days ago"),
        (timedelta(hours=-3, seconds=-1), "in 3 hours"),
    ],
)
def test_times_are_said_as_people_say_them(passed, words):
    assert tags.relative(passed, timezone.now()) == words


@pytest.mark.parametrize(
    ("state", "chunks", "embedded", "words"),
    [
        ("indexed", 1, 1, "1 chunk, found by keyword and by meaning"),
        ("text", 3, 0, "3 chunks, found by keyword; its vectors are being made"),
        ("indexed", 3, 0, "3 chunks, found by keyword"),
        ("pending", 0, 0, "Waiting to be indexed; it is found by its words meanwhile"),
    ],
)
def test_the_index_is_told_in_a_sentence(state, chunks, embedded, words):
    assert sentences.index_words(state, chunks, embedded) == words


def test_the_state_of_the_server_in_a_chip():
    good = {
        "database": "ok", "worker": "ok", "embeddings": "ok",
        "index": {"behind": False, "lag_seconds": 0, "waiting": 0},
    }  # fmt: skip
    assert shell.describe(good).level == "ok"
    behind = {**good, "index": {"behind": True, "lag_seconds": 300, "waiting": 1_204}}
    assert "1,204 records wait" in shell.describe(behind).advice
    assert "5 minutes" in shell.describe(behind).advice
    assert shell.describe({**good, "worker": "gone"}).level == "bad"
    assert shell.describe({**good, "embeddings": "none"}).label == "Keyword only"
    assert shell.describe({"ok": False, "database": "does not answer"}).level == "bad"
