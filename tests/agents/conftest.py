"""No model, as in the tests of the API."""

import pytest

from tests.agents.served import serving
from tests.api.conftest import (  # noqa: F401  fixtures for every test here
    _keyword_only,
    ann,
    bob,
    gate,
    nobody,
    root,
)


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """One server on a real socket for all tests here; they write what others do not look for."""
    with serving(tmp_path_factory.mktemp("served")) as running:
        yield running
