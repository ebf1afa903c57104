"""The rules by their own examples, and by what must hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.beliefs.rules import RULES, claims, contradiction

MUST = [(rule.name, old, new) for rule in RULES for old, new in rule.retires]
MUST_NOT = [(rule.name, old, new) for rule in RULES for old, new in rule.keeps]


def verdict(old: str, new: str) -> str:
    return contradiction(claims(old), claims(new))


@pytest.mark.parametrize(("rule", "old", "new"), MUST)
def test_the_newer_retires_the_older(rule, old, new):
    assert verdict(old, new) == rule


@pytest.mark.parametrize(("rule", "old", "new"), MUST_NOT)
def test_neither_retires_the_other(rule, old, new):
    assert (verdict(old, new), verdict(new, old)) == ("", "")


def test_every_rule_has_its_name_and_examples_of_both_kinds():
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert len(rule.retires) >= 14
        assert len(rule.keeps) >= 18
        assert rule.says
    assert len(MUST) + len(MUST_NOT) >= 200


@pytest.mark.parametrize("text", sorted({text for _, old, new in MUST for text in (old, new)}))
def test_no_text_contradicts_itself_however_it_is_written(text):
    for other in (text, f"  {text} ", text.upper(), text.rstrip(".")):
        assert verdict(text, other) == ""


def test_a_text_that_says_more_than_the_newer_one_is_not_lost_for_a_part():
    whole = "host: alpha\nport: 8080"
    assert verdict(whole, "port: 9090") == ""
    assert verdict(whole, "host: alpha\nport: 9090") == "statement"
    assert verdict("port: 8080", "host: alpha\nport: 9090") == "statement"


def test_first_person_is_known_as_such():
    own = ["My editor is vim", "mein Laptop ist ThinkPad-T14", "Call me Max", "我的电脑是X1"]
    assert [claims(text)[0].own for text in own] == [True] * len(own)
    others = ["Ann's editor is vim", "The laptop is ThinkPad-T14", "the user's editor is vim"]
    assert [claims(text)[0].own for text in others] == [False] * len(others)


@given(st.text(max_size=700))
def test_no_text_raises_and_none_retires_itself(text):
    assert contradiction(claims(text), claims(text)) == ""


_WORDS = """the gateway is ist là 是 は です : = 10.0.0.5 [::1]:80 2001:db8::1/64 runs has Debian 12
    not if my 's in at . ? ， 的 Ann uses as editor call me answer German"""
_PIECES = st.lists(st.sampled_from([*_WORDS.split(), "\n"]), max_size=14)


@given(_PIECES, _PIECES)
def test_retiring_is_never_mutual_agreement(old, new):
    """Where the newer retires the older, the older would retire the newer, or say too little."""
    first, second = claims(" ".join(old)), claims(" ".join(new))
    if contradiction(first, second) and len(first) == len(second):
        assert contradiction(second, first)
