"""Drafts in their stored form."""

import math
import unicodedata
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from goclaw_site.errors import GoclawError, InvalidInput
from memory.drafts import (
    Changes,
    Draft,
    Source,
    check_changes,
    check_content,
    check_draft,
    check_line,
    check_metadata,
    check_tags,
)

text = st.text(st.characters(), max_size=60)  # lone surrogates and NUL included
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


def clean(value: object) -> bool:
    """Whether a database can keep it."""
    if isinstance(value, str):
        return "\x00" not in value and not any("\ud800" <= ch <= "\udfff" for ch in value)
    if isinstance(value, dict):
        return all(clean(key) and clean(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(clean, value))
    return not isinstance(value, float) or math.isfinite(value)


@given(text)
def test_content_is_kept_as_given_or_refused(content):
    if clean(content) and content.strip():
        assert check_content(content) == content
        return
    with pytest.raises(InvalidInput) as error:
        check_content(content)
    assert error.value.field == "content"


@given(st.dictionaries(text, values, max_size=4))
def test_metadata_is_storable_or_refused(metadata):
    if clean(metadata) and not any(key.startswith("superseded_") for key in metadata):
        assert check_metadata(metadata) == metadata
        return
    with pytest.raises(InvalidInput) as error:
        check_metadata(metadata)
    assert error.value.field == "metadata"


@given(text)
def test_a_line_is_one_trimmed_line_in_nfc(value):
    try:
        line = check_line("domain", value, 100)
    except InvalidInput:
        return
    assert line == unicodedata.normalize("NFC", line).strip()
    assert "\n" not in line


def test_tags_are_in_nfc_and_each_once():
    assert check_tags(("a", " a ", "e\u0301", "é")) == ("a", "é")


def test_a_draft_in_its_stored_form():
    end = timezone.now() + timedelta(days=1)
    checked = check_draft(
        Draft("  x ", domain=" net ", agent=" ", source=Source("file", " a.md "), expires_at=end)
    )
    assert checked.content == "  x "
    assert (checked.domain, checked.agent, checked.expires_at) == ("net", None, end)
    assert checked.source == Source("file", "a.md", 0)


def test_changes_leave_what_they_do_not_name():
    assert check_changes(Changes()) == Changes()
    assert check_changes(Changes(domain="")).domain == ""


@pytest.mark.parametrize(
    "changes",
    [
        Changes(content=" "),
        Changes(kind="page"),
        Changes(tags=("superseded",)),
        Changes(metadata={"superseded_at": "x"}),
        Changes(expires_at=timezone.now() - timedelta(days=1)),
        Changes(domain="a\nb"),
    ],
)
def test_changes_are_held_to_the_same_limits(changes):
    with pytest.raises(GoclawError):
        check_changes(changes)


def test_the_limit_is_configured(configure):
    configure({"memory.max_content_chars": 1000})
    with pytest.raises(GoclawError, match="1,000"):
        check_content("x" * 1001)
