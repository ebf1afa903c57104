"""What every test of the engine starts from: nothing cached, no model unless it asks for one."""

from collections.abc import Iterator

import pytest

from memory import providers
from memory.access import Principal
from memory.search import matrix
from tests.memory.making import BagProvider, person, serve


@pytest.fixture(autouse=True)
def _nothing_cached() -> Iterator[None]:
    """Processes remember providers and matrices; tests share a process."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    providers.reset()
    matrix.forget_all()


@pytest.fixture
def keyword_only(configure) -> None:
    """Search without embeddings, as with `memory.search.provider: none`."""
    configure({"memory.search.provider": "none"})
    providers.reset()


@pytest.fixture
def bag() -> BagProvider:
    """A provider that is quick and counts its calls."""
    return serve(BagProvider())


@pytest.fixture
def ann(db) -> Principal:
    return person("ann")


@pytest.fixture
def bob(db) -> Principal:
    return person("bob")
