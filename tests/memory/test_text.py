"""The normaliser: what is found by what, and that nothing a person can type breaks it."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import MAX_QUERY_TERMS, MAX_TERM, normalise, query_terms, stem, terms

anything = st.text(st.characters(), max_size=200)  # lone surrogates included
telling = st.text(
    st.sampled_from(
        "aZéßĐØłİıſŉǅΣςΐ0٣²½ﬁﷺ._-:/'’\" \t\n\u00a0\u00ad\u200b\u200d\ufe0f\u0301\u0323\u0345"
        "日本語ｶﾞ각ᄀ가กำ้ကို្កहिन्दीं😀\ud800"
    )
)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("pay-gw-01.prod is down", ["pay-gw-01.prod", "pay-gw-01", "prod", "gw", "PAY-GW-01"]),
        (
            "see https://wiki.example.org/en/Start-page",
            ["wiki.example.org", "start-page", "example", "page"],
        ),
        ("GitHub备份在每天三点", ["github", "备份", "每天", "GitHub备份"]),
        ("東京都の天気は晴れ", ["東京", "天気", "晴れ"]),
        ("ﾊﾞｯｸｱｯﾌﾟサーバー", ["バックアップ", "サーバー"]),
        ("한국어검색을 한다", ["한국", "검색"]),
        ("ประเทศไทย", ["ไทย", "ประเทศ"]),
        ("Đường Nguyễn Huệ", ["duong", "nguyen", "huệ"]),
        (
            "Ærøskøbing, Łódź, Straße, Þór, ISTANBUL",
            ["aeroskobing", "lodz", "strasse", "thor", "istanbul"],
        ),
        ("हिन्दी में लिखा", ["हिन्दी", "लिखा"]),
        ("snake_case __init__ C:/dir/file.txt", ["snake_case", "snake", "init", "file.txt", "dir"]),
        ("Backups were running", ["backup", "run"]),
        (
            "ops@example.org, 10.0.0.5:8080 and 2026-11-29",
            ["example.org", "10.0.0.5", "8080", "2026-11-29"],
        ),
        ("soft\u00adhyphen", ["softhyphen"]),
    ],
)
def test_found_by(text: str, queries: list[str]) -> None:
    index = set(terms(text))
    for query in queries:
        assert query_terms(query), query
        assert set(query_terms(query)) <= index, query


def test_identifier_whole_and_split() -> None:
    assert terms("pay-gw-01.prod") == ["pay-gw-01.prod", "pay-gw-01", "pay", "gw", "01", "prod"]


def test_repeats_and_order_are_kept() -> None:
    assert terms("b a b") == ["b", "a", "b"]


def test_single_character_of_a_script_without_spaces() -> None:
    assert terms("天 气") == ["天", "气"]


@pytest.mark.parametrize(
    "query", ["", " ", "*", "\"'", "() - | /", "😀", "\x00", "\ud800", "-:/._"]
)
def test_nothing_usable(query: str) -> None:
    assert terms(query) == query_terms(query) == []


@pytest.mark.parametrize(
    "query", ['"quoted" AND NEAR(x, 2)', "a' OR 1=1 --", "col:val* ^x", "{a b} + c"]
)
def test_syntax_is_data(query: str) -> None:
    assert not set(normalise(query)) & set("\"'*^(){}=+,")


def test_stop_words() -> None:
    assert query_terms("What does the gateway do?") == ["gateway"]
    assert query_terms("Jane Doe") == ["jane", "doe"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert query_terms("Wer hat die Stadt im Krieg gegründet?") == terms("Stadt Krieg gegründet")
    assert query_terms("Ai là người sáng lập của công ty?") == terms("người sáng lập công ty")


def test_stop_words_of_one_language_only() -> None:
    assert query_terms("Did anybody die in the war?") == terms("anybody die war")


def test_long_input_is_cheap_and_capped() -> None:
    start = time.perf_counter()
    for text in (
        "a" * 100_000,
        "a-" * 50_000,
        "ab." * 33_000,
        "天气" * 50_000,
        "\u0301" * 100_000,
        "x " * 50_000,
    ):
        assert all(len(term) <= MAX_TERM for term in terms(text))
        assert len(query_terms(text)) <= MAX_QUERY_TERMS
    assert time.perf_counter() - start < 20  # a quadratic step would take minutes


def test_work_is_linear() -> None:
    assert len(terms("ab-" * 20_000)) == 20_000
    assert len(terms("天气" * 20_000)) == 39_999


@given(anything | telling)
def test_terms_are_clean(text: str) -> None:
    for term in terms(text):
        assert term
        assert len(term) <= MAX_TERM
        # Cn: an ideograph that is younger than this Python's tables
        assert all(
            c.isalnum() or c in "._-:/" or unicodedata.category(c) in ("Mn", "Mc", "Me", "Cn")
            for c in term
        )


@given(anything | telling)
def test_idempotent(text: str) -> None:
    once = normalise(text)
    assert set(terms(once)) == set(once.split(" ")) - {""}


@given(anything | telling)
def test_query_is_part_of_index(text: str) -> None:
    found = query_terms(text)
    assert set(found) <= set(terms(text))
    assert len(found) == len(set(found)) <= MAX_QUERY_TERMS


@given(anything | telling)
def test_composition_does_not_matter(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


@given(anything | telling)
def test_case_does_not_matter(text: str) -> None:
    text = text.replace(
        "\u0345", ""
    )  # the one mark that becomes a letter, which then takes the marks after it
    assert terms(unicodedata.normalize("NFKC", text).casefold()) == terms(text)


@given(st.text(st.sampled_from("日本語天気カナひらがな가나다"), min_size=2, max_size=50))
def test_bigrams(run: str) -> None:
    run = unicodedata.normalize("NFKC", run)
    assert terms(run) == [run[at : at + 2] for at in range(len(run) - 1)]


@given(
    st.text(st.sampled_from("abcdefgz"), min_size=1, max_size=12),
    st.text(st.sampled_from("备份天气"), min_size=2),
)
def test_mixed_scripts_give_both(latin: str, han: str) -> None:
    assert set(terms(latin + han)) == set(terms(latin)) | set(terms(han))


@given(st.lists(anything | telling, max_size=4))
def test_lines_are_independent(texts: list[str]) -> None:
    assert terms("\n".join(texts)) == [term for text in texts for term in terms(text)]


@given(st.text(st.sampled_from("abcdeginrstuy"), max_size=20))
def test_a_stem_is_its_own_stem(word: str) -> None:
    assert stem(stem(word)) == stem(word)
