"""No model, as in the tests of the API, and commands in this process."""

from functools import partial

import pytest

from tests.api.conftest import _keyword_only  # noqa: F401  a fixture for every test here
from tests.commands.running import here


@pytest.fixture
def run(db, capsys):
    """`run("memory", "add", "text")` gives status and output."""
    return partial(here, capsys)
