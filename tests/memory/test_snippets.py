"""Snippets: safe HTML around the words that matched, whatever the text."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search.snippets import LENGTH, snippet
from memory.text import query_terms

anything = st.text(max_size=600)


def marked(text: str, query: str) -> list[str]:
    return [
        html.unescape(m) for m in re.findall("<mark>(.*?)</mark>", snip(text, query), re.DOTALL)
    ]


def snip(text: str, query: str) -> str:
    return snippet(text, query_terms(query))


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("The gateway runs Debian", "debian gateways", ["gateway", "Debian"]),
        ("Straße und Café", "strasse cafe", ["Straße", "Café"]),
        ("see pay-gw-01.prod now", "prod", ["pay-gw-01.prod"]),
        ("GitHub备份在每天三点", "备份", ["备份"]),
        ("東京都の天気は晴れ", "天気", ["天気"]),
        ("nothing here", "absent", []),
        ("", "x", []),
    ],
)
def test_matching_words_are_marked(text, query, words):
    assert marked(text, query) == words


def test_markup_in_the_text_is_shown_not_obeyed():
    found = snip("<script>alert('cat')</script> <mark>cat</mark> & \"dog\"", "cat")
    assert "<script" not in found
    assert set(re.findall(r"</?\w+", found)) <= {"<mark", "</mark"}
    assert found.count("<mark>") == 2
    assert "&amp;" in found


@given(anything, anything)
def test_nothing_but_marks_is_markup_and_nothing_is_invented(text, query):
    found = snip(text, query)
    bare = found.replace("<mark>", "").replace("</mark>", "")
    assert "<" not in bare
    assert ">" not in bare
    shown = html.unescape(bare).removeprefix("… ").removesuffix(" …")
    assert shown in text
    assert len(shown) <= LENGTH + 60


@given(anything)
def test_marks_are_balanced_and_never_nested(text):
    tags = re.findall("</?mark>", snip(text, text[:60]))
    assert tags == ["<mark>", "</mark>"] * (len(tags) // 2)


def test_a_long_text_is_cut_around_the_matches():
    text = "filler " * 100 + "the heron stood " + "filler " * 100
    found = snip(text, "heron")
    assert "<mark>heron</mark>" in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(found) < 2 * LENGTH


def test_a_word_of_a_hundred_thousand_letters_is_bounded():
    assert len(snip("x" * 100_000, "xx")) < 2 * LENGTH
    assert len(snip("漢" * 3000, "漢漢")) < 4 * LENGTH
