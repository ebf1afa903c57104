"""What the wiki's tests start from: no embeddings, people and agents to edit as."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory import providers
from memory.access import Principal
from memory.search import matrix
from tests.api.callers import Caller, caller
from tests.memory.making import person


@pytest.fixture(autouse=True)
def _keyword_only(configure) -> Iterator[None]:
    configure({"memory.search.provider": "none"})
    providers.reset()
    matrix.forget_all()
    yield
    providers.reset()
    matrix.forget_all()


@pytest.fixture
def ann(db) -> Principal:
    return person("ann", door="browser")


@pytest.fixture
def bob(db) -> Principal:
    return person("bob", door="browser")


@pytest.fixture
def agent(db) -> Principal:
    """A planned run: it may write, and its edits wait."""
    return Principal(name="gateway bot", gateway=True, run_kind="cron", key="abcd")


@pytest.fixture
def root_key(db) -> Caller:
    return caller("root", is_superuser=True)
