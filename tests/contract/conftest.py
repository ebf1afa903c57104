"""The contract suites start from nothing cached, as the engine's tests do."""

from tests.memory.conftest import _nothing_cached

__all__ = ["_nothing_cached"]
