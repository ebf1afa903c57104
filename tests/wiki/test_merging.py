"""The rules of a merge, for any three texts."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from wiki.merging import MIDDLE, MINE, THEIRS, merge

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "line"]), max_size=12).map("\n".join)
MARKS = (MINE, MIDDLE, THEIRS)


@given(TEXTS, TEXTS)
def test_a_change_on_one_side_alone_is_that_side(base, other):
    assert merge(base, other, base) == merge(base, base, other)
    assert merge(base, other, base).text == other
    assert merge(base, other, base).clean


@given(TEXTS, TEXTS)
def test_the_same_change_on_both_sides_is_that_change(base, other):
    assert merge(base, other, other).text == other
    assert merge(base, other, other).clean


@given(TEXTS, TEXTS, TEXTS)
def test_whether_there_is_a_conflict_does_not_depend_on_who_is_who(base, mine, theirs):
    one, two = merge(base, mine, theirs), merge(base, theirs, mine)
    assert one.conflicts == two.conflicts
    if one.clean:
        assert one.text == two.text


@given(TEXTS, TEXTS, TEXTS)
def test_no_new_line_of_either_side_is_lost(base, mine, theirs):
    merged = Counter(merge(base, mine, theirs).text.split("\n"))
    kept = Counter(base.split("\n"))
    for side in (mine, theirs):
        fresh = Counter(side.split("\n")) - kept
        assert not [line for line in fresh if not merged[line]]


@given(TEXTS, TEXTS, TEXTS)
def test_marks_stand_exactly_where_something_is_to_be_decided(base, mine, theirs):
    merged = merge(base, mine, theirs)
    lines = merged.text.split("\n")
    assert [lines.count(mark) for mark in MARKS] == [merged.conflicts] * 3
    if not merged.clean:
        read = {MINE: [], MIDDLE: []}
        here = None
        for line in lines:
            here = line if line in (MINE, MIDDLE) else None if line == THEIRS else here
            if here and line not in MARKS:
                read[here].append(line)
        assert not Counter(read[MINE]) - Counter(mine.split("\n"))
        assert not Counter(read[MIDDLE]) - Counter(theirs.split("\n"))


def test_changes_far_apart_are_merged():
    base = "one\ntwo\nthree\nfour\nfive\nsix\n"
    mine = base.replace("one", "ONE")
    theirs = base.replace("six", "SIX")
    assert merge(base, mine, theirs).text == "ONE\ntwo\nthree\nfour\nfive\nSIX\n"


def test_changes_of_one_line_are_a_conflict_with_both_texts():
    merged = merge("a\nb\nc", "a\nmine\nc", "a\ntheirs\nc")
    assert merged.conflicts == 1
    assert merged.text == f"a\n{MINE}\nmine\n{MIDDLE}\ntheirs\n{THEIRS}\nc"


def test_line_breaks_of_browsers_make_no_conflict():
    assert merge("a\nb\nc", "a\r\nb\r\nC", "A\nb\nc").text == "A\nb\nC"
