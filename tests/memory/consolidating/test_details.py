"""A merged text keeps every detail and adds none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.consolidating.details import details, fault, names

SOURCES = [
    "Backups of billing go to 10.0.0.5 every night, Alice checks them.",
    "The billing backups are kept for 30 days and never leave vault-01.",
]
GOOD = (
    "Backups of billing go to 10.0.0.5 every night and are kept for 30 days; they never leave"
    " vault-01, and Alice checks them."
)


def test_a_text_that_holds_everything_passes():
    assert fault(GOOD, SOURCES) == ""


@pytest.mark.parametrize(
    ("gone", "instead"),
    [
        ("10.0.0.5", "the store"),
        ("10.0.0.5", "10.0.0.6"),
        ("30 days", "days"),
        ("30 days", "31 days"),
        ("vault-01", "vault"),
        ("never", "rarely"),
        ("never", ""),
        ("Alice", "somebody"),
        ("Alice", "Alice at 9:00"),
    ],
)
def test_a_lost_or_invented_detail_is_a_fault(gone, instead):
    assert fault(GOOD.replace(gone, instead), SOURCES)


def test_nothing_and_far_too_much_are_faults():
    assert fault("  ", SOURCES)
    assert fault(GOOD + " and so on" * 60, SOURCES)


def test_the_fault_quotes_no_text():
    assert "10.0.0.5" not in fault("gone", SOURCES)


@given(st.text())
def test_a_text_has_its_own_details(text):
    assert details(text) == details(text)
    if text.strip():
        assert fault(text, [text]) == ""
    assert names(text) <= {word.casefold() for word in names(text)}
