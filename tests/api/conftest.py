"""Callers, and no model unless a test asks for one."""

from collections.abc import Iterator

import pytest

from memory import providers
from memory.search import matrix
from tests.api.callers import Caller, caller, gateway


@pytest.fixture(autouse=True)
def _keyword_only(configure) -> Iterator[None]:
    """Processes remember providers and matrices; tests share a process."""
    configure({"memory.search.provider": "none"})
    providers.reset()
    matrix.forget_all()
    yield
    providers.reset()
    matrix.forget_all()


@pytest.fixture
def root(db) -> Caller:
    return caller("root", is_superuser=True)


@pytest.fixture
def ann(db) -> Caller:
    return caller("ann")


@pytest.fixture
def bob(db) -> Caller:
    return caller("bob")


@pytest.fixture
def gate(db) -> Caller:
    return gateway()


@pytest.fixture
def nobody(db) -> Caller:
    return Caller()
