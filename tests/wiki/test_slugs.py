"""One page has one name, in any script; nothing else passes."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goclaw_site.errors import InvalidInput
from wiki import slugs

SCRIPTS = [
    "team/on-call", "überblick/größe", "資料/辞書", "руководство/сеть", "دليل/الشبكة",
    "कार्यपुस्तिका", "คู่มือ/น้ำ", "데이터/사전", "מדריך", "v1.2_beta/a", "c", "2026/01",
]  # fmt: skip


@pytest.mark.parametrize("slug", SCRIPTS)
def test_names_of_any_script_stay_as_they_are(slug):
    wanted = unicodedata.normalize("NFC", slug)
    assert slugs.parse(slug) == wanted
    assert slugs.parse(wanted) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Team/On-Call", "team/on-call"),
        ("cafe\u0301", "caf\u00e9"),
        ("GRÖẞE", "größe"),
        ("ΟΔΟΣ", "οδος"),
        ("İzmir", "i\u0307zmir"),
        ("\uff30\uff41\uff47\uff45", "page"),
        ("\uff83\uff7d\uff84", "テスト"),
    ],
)
def test_two_spellings_are_one_page(one, other):
    assert slugs.parse(one) == slugs.parse(other)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("", "empty part"), ("/a", "empty part"), ("a/", "empty part"), ("a//b", "empty part"),
        (".", "empty part"), ("a/../b", "'..'"), ("..", "'..'"), ("a/./b", "'.'"),
        ("a b", "a space"), ("a\nb", "U+000A"), ("a\x00", "U+0000"), ("a?b", "question mark"),
        ("a#b", "number sign"), ("a%20b", "percent sign"), ("a\\b", "reverse solidus"),
        ("x" * 201, "201 characters"), ("wikijs/site/en/home", "copies"), ("WikiJS", "copies"),
        ("a\u200bb", "U+200B"), ("a\u202eb", "U+202E"), ("a\ufe0f", "variation selector"),
        ("\u3164", "hangul filler"), ("p\u0430ypal", "look alike"), ("\u03bftto", "look alike"),
        ("a\ud800", "surrogate"), ("a😀", "grinning face"), ("<script>", "less-than"),
    ],
)  # fmt: skip
def test_what_is_no_name_says_why(bad, why):
    with pytest.raises(InvalidInput) as refused:
        slugs.parse(bad)
    assert refused.value.field == "slug"
    assert why in refused.value.message


def test_alphabets_may_stand_side_by_side():
    assert slugs.parse("api-для-x/λ-rechnung") == "api-для-x/λ-rechnung"


def test_every_printable_character_survives_the_address():
    """gollum #1584, inyoka #1017: encoded twice, or not at all."""
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    for start in range(0, len(printable), 500):
        path = f"wikijs/s/en/%20{printable[start : start + 500]}%2F"
        encoded = slugs.encode(path)
        assert slugs.decode(encoded) == path
        assert encoded.isascii()


def test_folding_is_done_once_for_every_letter():
    for number in range(sys.maxunicode + 1):
        ch = chr(number)
        if unicodedata.category(ch)[0] in "LMN":
            once = slugs.fold(f"a{ch}b")
            assert slugs.fold(once) == once
            assert slugs.fold(unicodedata.normalize("NFD", f"a{ch}b")) == once


@given(st.text())
def test_any_title_gives_a_name(title):
    slug = slugs.from_title(title)
    assert slugs.parse(slug) == slug
    assert "/" not in slug


@given(st.text(max_size=300))
def test_what_parses_parses_to_itself(text):
    try:
        slug = slugs.parse(text)
    except InvalidInput:
        return
    assert slugs.parse(slug) == slug
    assert slugs.decode(slugs.encode(slug)) == slug
    assert 0 < len(slug) <= slugs.MAX_SLUG


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("On-call: who & when?", "on-call-who-when"),
        ("Größe", "größe"),
        ("データ 辞書", "データ-辞書"),
        ("  ", None),
        ("../../etc/passwd", "etc-passwd"),
        ("wikijs", None),
        ("Pаypal", "p-а-ypal"),
    ],
)
def test_names_of_titles(title, slug):
    found = slugs.from_title(title)
    assert found == slug if slug else found.startswith("page-")


def test_links_name_pages_loosely():
    assert slugs.from_link("Team/On call") == "team/on-call"
    assert slugs.from_link("/team/") == "team"
    with pytest.raises(InvalidInput):
        slugs.from_link("???")


def test_copies_keep_their_spelling():
    path = "wikijs/site/en/Docs/A%20b?c#d"
    assert slugs.read(path) == path
    assert slugs.key(path) != slugs.key(path.lower())
    for bad in ("wikijs/a/../b", "wikijs//b", "wikijs/" + "x" * 1000):
        with pytest.raises(InvalidInput):
            slugs.read(bad)
