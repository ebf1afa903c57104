"""The chunker: properties that hold for any text, and the boundaries it prefers."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import chunking
from memory.chunking import Span, split

MANY = 200_000
FAMILY = "👩🏽‍🚀"
BRICKS = st.sampled_from(
    [
        "a", "word ", "Two words. ", "Really?) ", "深度学习。", "「はい！」", "\n", "\r\n", "\n\n",
        "\n# A\n", "\n## B\n", "\n```\n", "\n~~~py\n", "\n|a|b|\n|-|-|\n|1|2|\n",
        "e\u0301", "\u0301", "❤\ufe0f", FAMILY, "🇩🇪", "\U0001f1e6", "\u200d", "क्ष",
        "\ud83d", "\ude00", "\u00a0", "   ", "\t",
    ]
)  # fmt: skip
TEXTS = st.lists(BRICKS | st.text(max_size=8), max_size=80).map("".join)
SIZES = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size // 2)))


def texts_of(text: str, size: int, overlap: int = 0) -> list[str]:
    return [text[span.start : span.end] for span in split(text, size, overlap)]


def cuts_of(text: str, size: int, overlap: int = 0) -> set[int]:
    spans = split(text, size, overlap)
    return {span.start for span in spans[1:]} | {span.end for span in spans[:-1]}


# --- properties


@given(TEXTS.filter(str.strip), SIZES)
def test_chunks_cover_the_text_in_order(text: str, setting: tuple[int, int]) -> None:
    assert_covered(text, *setting)


def assert_covered(text: str, size: int, overlap: int) -> None:
    spans = split(text, size, overlap)
    assert spans[0].start == 0
    assert spans[-1].end == len(text)
    assert all(0 < span.end - span.start <= size for span in spans)
    for one, two in pairwise(spans):
        assert one.start < two.start <= one.end < two.end
        assert one.end - two.start <= overlap


@given(TEXTS, SIZES)
def test_the_same_text_gives_the_same_chunks(text: str, setting: tuple[int, int]) -> None:
    assert split(text, *setting) == split(text, *setting)


@given(TEXTS)
def test_a_short_text_is_one_chunk(text: str) -> None:
    spans = [(span.start, span.end) for span in split(text)]
    assert len(text) > 1600 or spans == ([(0, len(text))] if text.strip() else [])


@pytest.mark.parametrize(
    "whole",
    ["e\u0301\u0323", "❤\ufe0f", FAMILY, "🇩🇪", "1\ufe0f\u20e3", "\ud83d\ude00", "\r\n",
     "क्ष", "\u1100\u1161\u11a8",
     "🏴\U000e0067\U000e0062\U000e007f", "กำ"],
)  # fmt: skip
@given(size=st.integers(12, 40), shift=st.text("ab ", max_size=12), data=st.data())
def test_a_character_as_people_see_it_is_never_cut(
    whole: str, size: int, shift: str, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    text = shift + whole * 40 + "."
    inside = {
        offset
        for offset in range(len(shift), len(shift) + 40 * len(whole))
        if (offset - len(shift)) % len(whole)
    }
    assert not cuts_of(text, size, overlap) & inside


class Counted(bytearray):
    """Marks that count how many of them are looked at, at most."""

    looked = 0

    def find(self, *args: Any) -> int:
        self.looked += args[2] - args[1]
        return super().find(*args)

    def rfind(self, *args: Any) -> int:
        self.looked += args[2] - args[1]
        return super().rfind(*args)

    def __getitem__(self, at: Any) -> Any:
        self.looked += 1
        return super().__getitem__(at)


def walk_counted(text: str, size: int, overlap: int) -> tuple[int, int]:
    marks = Counted(chunking._marks(text, chunking._outline(text), size))
    spans = chunking._walk(marks, size, overlap)
    return len(spans), marks.looked


@given(TEXTS.filter(bool), SIZES)
def test_the_work_is_linear(text: str, setting: tuple[int, int]) -> None:
    size, overlap = setting
    count, looked = walk_counted(text, size, overlap)
    steps = 2 * len(text) / ((size - overlap + 1) // 2) + 2
    assert count <= steps
    assert looked <= steps * 40 * (size + 1)


HOSTILE = {
    "one letter": "a" * MANY,
    "spaces": "a" + " " * MANY + "a",
    "newlines": "a" + "\n" * MANY + "a",
    "blank lines": "a" + " \r\n" * (MANY // 3) + "a",
    "combining marks": "a" + "\u0301" * MANY,
    "emoji": FAMILY * (MANY // len(FAMILY)),
    "one emoji": "👩\u200d" * (MANY // 2),
    "surrogates": "\ud83d\ude00" * (MANY // 2),
    "flags": "🇩🇪" * (MANY // 2),
    "viramas": "क्" * (MANY // 2),
    "open fences": "```py\n" * (MANY // 6),
    "fences": "```\n" * (MANY // 4),
    "one fence line": "`" * MANY,
    "tables": "|a|b|\n|-|-|\n" * (MANY // 12),
    "one table line": "|-" * (MANY // 2),
    "headings": "# a\n" * (MANY // 4),
    "one heading": "# " + "a #" * (MANY // 3),
    "number signs": "# " + "#" * MANY,
    "full stops": "." * MANY,
    "closing marks": ".)" * (MANY // 2),
    "distinct": "".join(chr(0x4E00 + at % 20_000) for at in range(MANY)),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_stay_linear(text: str) -> None:
    count, looked = walk_counted(text, 1600, 320)
    assert count <= 2 * len(text) / 640 + 2
    assert looked <= 20 * len(text)
    spans = split(text)
    assert all(span.end - span.start <= 1600 for span in spans)
    assert (spans[0].start, spans[-1].end) == (0, len(text))


# --- boundaries


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u3000\u2003", " " * 5000])
def test_a_blank_text_has_no_chunks(text: str) -> None:
    assert split(text) == []


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 6), (10, -1)])
def test_an_impossible_setting_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="chunk overlap"):
        split("text", size, overlap)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("aaaa aaaa\n\nbbbb. cc\ndd ee ff gg hh", "aaaa aaaa\n\n"),
        ("aaaa aaaa bb.\nbb. cc dd ee ff gg hh", "aaaa aaaa bb.\n"),
        ("aaaa aaaa bb. bb cc dd ee ff gg hh", "aaaa aaaa bb. "),
        ("aaaa aaaa “bb!” bb cc dd ee ff gg hh", "aaaa aaaa “bb!” "),
        ("aaaa aaaa b.b bb 3.14 dd ee ff gg hh", "aaaa aaaa b.b bb "),
        ("深度学习深度学习深度。」学习深度学习深度学习", "深度学习深度学习深度。」"),
        ("はいはいはいはいはい！はいはいはいはいはいはい", "はいはいはいはいはい！"),
        ("aaaa\u00a0aaaa bbbb\u00a0bbbb\u00a0cccc\u00a0dddd\u00a0eeee", "aaaa\u00a0aaaa "),
        ("a" * 50, "a" * 20),
    ],
)
def test_the_best_boundary_in_the_window_wins(text: str, first: str) -> None:
    assert texts_of(text, 20)[0] == first


def test_the_last_of_equal_boundaries_wins() -> None:
    assert texts_of("aaaa aaaa aaaa aaaa aaaa aaaa", 20)[0] == "aaaa aaaa aaaa aaaa "


def test_the_overlap_begins_with_a_sentence() -> None:
    text = "".join(f"This is the sentence number {at:03}. " for at in range(100))
    for one, two in pairwise(split(text, 400, 90)):
        assert text[two.start :].startswith("This is")
        assert 50 <= one.end - two.start <= 90


def test_the_overlap_begins_with_a_word_where_sentences_are_long() -> None:
    text = "".join(f"word{at:04} " for at in range(400))
    for span in split(text, 400, 100)[1:]:
        assert text[span.start :].startswith("word")


@pytest.mark.parametrize("length", range(1601, 3200, 100))
def test_the_last_chunk_is_not_tiny(length: int) -> None:
    text = ("word " * 700)[:length]
    spans = split(text)
    assert spans[-1].end - spans[-2].end >= 400


def test_a_sequence_longer_than_the_size_is_cut_hard() -> None:
    text = "a" + "\u0301" * 50
    assert texts_of(text, 20) == [text[:20], text[20:40], text[40:]]


def test_a_surrogate_pair_is_whole_even_in_a_sequence_that_is_not() -> None:
    pairs = "\ud83d\ude00\u200d" * 30
    assert all(not part.startswith("\ude00") for part in texts_of(pairs, 20))


# --- Markdown


def paragraphs(count: int) -> str:
    return "".join(f"Paragraph {at:02} says a little.\n\n" for at in range(count))


@pytest.mark.parametrize(
    "block",
    [
        "```python\n# no heading\n\nx = 1\n\n\ny = 2\n```\n",
        "~~~\n```\n\nstill code\n~~~\n",
        "````\n```\n\nstill code\n````\n",
        "   ```\n\n   indented\n\n   ```\n",
        "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n",
        "a | b\n--- | ---\n1 | 2\n3 | 4\n",
    ],
)
@pytest.mark.parametrize("before", range(8))
def test_a_block_that_fits_is_not_cut(block: str, before: int) -> None:
    text = paragraphs(before) + block + paragraphs(8)
    start, end = text.index(block), text.index(block) + len(block)
    assert not cuts_of(text, 120, 40) & set(range(start + 1, end))


def test_a_block_that_does_not_fit_is_cut_at_its_lines() -> None:
    text = "```\n" + "line of code\n" * 40 + "```\n"
    assert all(part.endswith("\n") for part in texts_of(text, 100))


@pytest.mark.parametrize("before", range(80))
def test_a_block_pushed_to_the_next_chunk_leaves_no_gap(before: int) -> None:
    block = "```\n" + "x" * 30 + "\n```"
    for between in ("", "a line\n", "a line\nand more\n"):
        text = "word " * 9 + "a" * before + "\n\n" + between + block
        assert_covered(text, 40, 20)
        assert_covered(text + "\n" + text, 40, 20)


def test_a_block_ends_with_its_table_or_fence() -> None:
    text = "|a|b|\n|-|-|\n|1|2|\nplain text\n```\ncode\n```\nplain"
    assert chunking._outline(text).blocks == [(0, 18), (29, 42)]


def test_an_open_fence_reaches_to_the_end() -> None:
    outline = chunking._outline("# A\n```\n# B\n")
    assert outline.blocks == [(4, 12)]
    assert [path for _, path in outline.headings] == ["A"]


def test_each_chunk_knows_its_heading_path() -> None:
    sections = ("# Alpha ##\n\n", "## Beta\n\n", "### C# and F#\n\n", "## Delta\n\n", "# Omega\n\n")
    text = "".join(heading + paragraphs(3) for heading in sections)
    assert [(span.heading, text[span.start]) for span in split(text, 120, 30)] == [
        ("Alpha", "#"),
        ("Alpha › Beta", "#"),
        ("Alpha › Beta › C# and F#", "#"),
        ("Alpha › Delta", "#"),
        ("Omega", "#"),
    ]


def test_a_heading_counts_for_all_chunks_below_it() -> None:
    spans = split("intro\n\n# A\n\n" + paragraphs(20), 120, 30)
    assert {span.heading for span in spans[1:]} == {"A"}
    assert spans[0].heading == ""


def test_blank_lines_before_a_heading_belong_to_nobody() -> None:
    assert split("\n\n# A\ntext") == [Span(0, 10, "A")]


@pytest.mark.parametrize(
    "line", ["#tag", "#", "# ", "####### seven", "    # code", "text # no", "```\n# code\n```"]
)
def test_what_is_no_heading(line: str) -> None:
    assert split(f"{line}\n\ntext")[0].heading == ""


def test_a_long_title_is_shortened_in_the_path() -> None:
    heading = split("# " + "a" * 500)[0].heading
    assert (len(heading), heading[-1]) == (chunking.TITLE_LIMIT, "…")


@pytest.mark.parametrize("before", range(20, 110))
def test_a_heading_stays_with_its_text(before: int) -> None:
    text = (
        "x" * before
        + "\n\n## Where\n\n### It is\n\nThe text below the heading goes on and on.\n" * 4
    )
    for part in texts_of(text, 120, 30)[:-1]:
        assert not part.rstrip().rpartition("\n")[2].startswith("#")
