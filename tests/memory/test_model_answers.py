"""Reading what models write: what is plain is read, what is doubtful is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from memory.providers.chat.reading import Unreadable, cleaned, read_text


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    verdict: str
    reason: str = ""


class Path(BaseModel):
    path: str


READ = [
    '{"verdict": "a"}',
    ' \n{"verdict": "a"}\n ',
    '```json\n{"verdict": "a"}\n```',
    '```\n{"verdict": "a"}\n```',
    'Sure! Here it is: {"verdict": "a"} I hope this helps.',
    'The set {x, y} is no answer. {"verdict": "a"}',
    '{"verdict": "a",}',
    '{"verdict": "a", "reason": "",\n}',
    '<think>{"verdict": "b"}</think>{"verdict": "a"}',
    '{"verdict": "a"} and once more {"verdict": "a"}',
    '{"other": 1} {"verdict": "a"}',
    '\ufeff{"verdict": "a"}',
    '{"verdict"\n:\t"a"}',
]
UNREAD = [
    "",
    "a",
    "null",
    "[]",
    "{",
    "{}",
    '{"verdict": "a"',
    '{"answer": {"verdict": "a"}',
    '{"answer": {"verdict": "a"}}',
    '{"verdict": "a"} or rather {"verdict": "b"}',
    '{"verdict": 5}',
    '{"verdict": NaN}',
    '{"verdict": "a", "more": 1}',
    '[{"verdict": "a"}, {"verdict": "b"}]',
    "{'verdict': 'a'}",
    "{" * 100_000,
    '{"verdict": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "x" * 1_000_001,
]


@pytest.mark.parametrize("text", READ)
def test_what_is_plain_is_read(text):
    assert read_text(text, Verdict).verdict == "a"


@pytest.mark.parametrize("text", UNREAD, ids=lambda text: text[:40])
def test_what_is_doubtful_is_not(text):
    with pytest.raises(Unreadable) as error:
        read_text(text, Verdict)
    assert str(error.value)


def test_a_whole_object_that_was_cut_off_after_is_not_read():
    with pytest.raises(Unreadable, match="cut off"):
        read_text('{"verdict": "a"}', Verdict, truncated=True)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (r'{"path": "C:\Program Files\x"}', r"C:\Program Files\x"),
        (r'{"path": "C:\\temp"}', r"C:\temp"),
        (r'{"path": "\d+ \"quoted\""}', r'\d+ "quoted"'),
        ('{"path": "two\nlines"}', "two\nlines"),
        (r'{"path": "a,]"}', "a,]"),
        (r'{"path": "a, }", }', "a, }"),
        (r'{"path": "a\u0000b\ud800"}', "ab?"),
    ],
)
def test_wrong_escapes_are_mended(text, path):
    assert read_text(text, Path).path == path


@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_any_value_survives_prose_without_braces(value, before, after):
    def words(text: str) -> str:
        return text.replace("{", "(").replace("<think>", "")

    text = f"{words(before)}{json.dumps({'path': value})}{words(after)}"
    assert read_text(text, Path).path == cleaned(value)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    try:
        read = read_text(text, Verdict)
    except Unreadable:
        return
    assert isinstance(read, Verdict)
