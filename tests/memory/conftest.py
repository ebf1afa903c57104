"""What every test of the engine starts from: nothing cached, no model unless it asks for one."""

import os
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture
def state(tmp_path, monkeypatch) -> Path:
    """A state directory for files alone; the database is the test's."""
    monkeypatch.setenv("GOCLAW_STATE_DIR", str(tmp_path / "state"))
    for name in ("run", "backups", "workspace/memory", "media", "agents/crow/workspace"):
        (tmp_path / "state" / name).mkdir(parents=True)
    (tmp_path / "state/workspace/memory/2020-01-02.md").write_text("a day 世界")
    (tmp_path / "state/agents/crow/workspace/Memory.md").write_bytes(b"x" * 3_000_000)
    (tmp_path / "state/media/7").write_bytes(os.urandom(1000))
    (tmp_path / "state/workspace/empty").write_bytes(b"")
    return tmp_path / "state"
