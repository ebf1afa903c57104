"""Comparisons show exactly what changed, for any two texts, in bounded work."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiki import aligning, diffs

LINES = st.lists(st.sampled_from(["", "a", "b", "c c", "the gateway", "}", " "]), max_size=30)
TEXTS = st.text(alphabet="ab \n漢字é-", max_size=120)


@given(LINES, LINES)
def test_matches_are_equal_ordered_and_never_cross(old, new):
    at = (0, 0)
    for i, j, size in aligning.matches(old, new):
        assert i >= at[0]
        assert j >= at[1]
        assert size > 0
        assert old[i : i + size] == new[j : j + size]
        at = (i + size, j + size)
    assert at <= (len(old), len(new))


@given(LINES)
def test_a_text_matches_itself_wholly(lines):
    assert aligning.matches(lines, lines) == ([(0, 0, len(lines))] if lines else [])


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_out_of_the_comparison(old, new):
    rows = diffs.compare(old, new, context=None).rows

    def side(pieces_of, numbered):
        return ["".join(p.text for p in pieces_of(row)) for row in rows if numbered(row)]

    assert side(lambda row: row.left, lambda row: row.old) == diffs.lines(old)
    assert side(lambda row: row.right, lambda row: row.new) == diffs.lines(new)


@given(TEXTS, TEXTS)
def test_gaps_stand_for_all_the_lines_that_are_not_shown(old, new):
    diff = diffs.compare(old, new)
    shown = sum(row.count if row.kind == "gap" else row.new is not None for row in diff.rows)
    assert shown == len(diffs.lines(new))
    assert diff.same == (diffs.lines(old) == diffs.lines(new))


@given(TEXTS, TEXTS)
def test_the_unified_form_leads_from_one_text_to_the_other(old, new):
    assert _patched(diffs.lines(old), diffs.unified(old, new)) == diffs.lines(new)


def _patched(old: list[str], patch: str) -> list[str]:
    """Apply a patch as `patch -p0` would, checking every line of context."""
    out, at = [], 0
    for line in patch.split("\n")[2:-1]:
        if line.startswith("@@"):
            first, count = (int(n) for n in line.split(" ")[1][1:].split(","))
            start = first - 1 if count else max(first, at)
            out += old[at:start]
            at = start
        elif line.startswith("+"):
            out.append(line[1:])
        else:
            assert old[at] == line[1:]
            out += [line[1:]] if line.startswith(" ") else []
            at += 1
    return out + old[at:]


def kinds(old: str, new: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in diffs.words(old, new)]


def test_words_within_a_line():
    assert kinds("The gateway is 10.0.0.5 now.", "The gateway is 10.0.0.7 now.") == [
        ("same", "The gateway is 10.0.0."), ("del", "5"), ("ins", "7"), ("same", " now."),
    ]  # fmt: skip
    assert kinds("drain the old queue", "drain a new queue") == [
        ("same", "drain "), ("del", "the old"), ("ins", "a new"), ("same", " queue"),
    ]  # fmt: skip


def test_signs_within_a_line_without_spaces():
    assert kinds("証明書は三月に更新", "証明書は四月に更新") == [
        ("same", "証明書は"), ("del", "三"), ("ins", "四"), ("same", "月に更新"),
    ]  # fmt: skip


def test_alike_lines_stand_side_by_side():
    diff = diffs.compare("one line here\nkeep\n", "new above\none line there\nkeep\n")
    assert [row.kind for row in diff.rows] == ["added", "changed", "same"]
    assert (diff.added, diff.removed) == (2, 1)


def _megabyte(seed: int, words: list[str], per_line: int) -> str:
    rng = random.Random(seed)
    out = [rng.choice(words) + ("\n" if n % per_line == 0 else " ") for n in range(500_000 // 5)]
    return "".join(out)[:500_000]


HUGE = {
    "two texts with nothing in common": (
        "".join(f"old {n}\n" for n in range(50_000)), "".join(f"new {n}\n" for n in range(50_000))
    ),
    "few different lines": (_megabyte(1, ["a", "b"], 1), _megabyte(2, ["a", "b"], 1)),
    "one long line": ("word " * 100_000, "ward " * 100_000),
    "one long line of random words": (
        _megabyte(3, ["aaaa", "bbbb", "cccc"], 10**9), _megabyte(4, ["aaaa", "bbbb"], 10**9)
    ),
    "everything turned round": (
        "".join(f"{n}\n" for n in range(80_000)), "".join(f"{n}\n" for n in range(80_000, 0, -1))
    ),
    "shuffled": (
        "".join(f"{n}\n" for n in random.Random(5).sample(range(80_000), 80_000)),
        "".join(f"{n}\n" for n in random.Random(6).sample(range(80_000), 80_000)),
    ),
    "every other line changed": (
        "".join(f"line {n}\n" for n in range(50_000)),
        "".join(f"line {n}{'x' * (n % 2)}\n" for n in range(50_000)),
    ),
    "blank lines": ("\n" * 500_000, "\n" * 400_000 + "x\n" + "\n" * 99_000),
    "lines of many words": (_megabyte(7, ["a", "b", "c"], 900), _megabyte(8, ["a", "b", "c"], 900)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_two_texts_of_500_kb_take_bounded_work(name, monkeypatch):
    old, new = HUGE[name]
    looked: list[int] = []
    real = aligning.SequenceMatcher

    def counted(junk, a, b, **options):
        looked.append(len(a) * len(b))
        return real(junk, a, b, **options)

    monkeypatch.setattr(aligning, "SequenceMatcher", counted)
    diff = diffs.compare(old, new)
    assert not diff.same
    assert len(diff.rows) <= diffs.ROWS
    assert max(looked, default=0) <= aligning.SMALL**2
    assert diff.cut == 0 or len(diff.rows) == diffs.ROWS


@settings(max_examples=30)
@given(LINES, LINES, st.integers(0, 200))
def test_when_the_work_is_used_up_the_rest_differs_and_nothing_is_lost(old, new, work):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aligning, "WORK", work)
        for i, j, size in aligning.matches(old, new):
            assert old[i : i + size] == new[j : j + size]


def test_a_whole_text_that_is_too_long_to_show_counts_no_change_that_is_none():
    old = "line\n" * (diffs.ROWS + 500)
    diff = diffs.compare(old, "first\n" + old, context=None)
    assert (diff.added, diff.removed, diff.cut, diff.limited) == (1, 0, 0, True)
    assert not diffs.compare("a", "b").limited
