"""A state directory of its own for the whole run, made before the settings are read.

GOCLAW_TEST_DATABASE=postgres runs what is marked `db` on a PostgreSQL of the run's own.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping

import hypothesis
import pytest

_DATABASE = os.environ.get("GOCLAW_TEST_DATABASE", "sqlite")
for _name in [name for name in os.environ if name.startswith("GOCLAW_")]:
    del os.environ[_name]
_STATE = tempfile.mkdtemp(prefix="goclaw-tests-")
atexit.register(shutil.rmtree, _STATE, ignore_errors=True)
os.environ["GOCLAW_STATE_DIR"] = _STATE
os.environ["DJANGO_SETTINGS_MODULE"] = "goclaw_site.settings"
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from tests import databases  # noqa: E402

databases.choose(_DATABASE)

import django  # noqa: E402

# pytest-django looks for settings before it reads this file, so it does not do it itself.
django.setup()

from goclaw_site.config import Config, reload_config  # noqa: E402
from goclaw_site.configkeys import env_name  # noqa: E402

# A slow machine fails nothing.
hypothesis.settings.register_profile("goclaw", deadline=None)
hypothesis.settings.load_profile("goclaw")

Configure = Callable[[Mapping[str, object]], Config]


@pytest.fixture
def configure() -> Iterator[Configure]:
    """`configure({"memory.search.provider": "none"})` until the end of the test."""
    with pytest.MonkeyPatch.context() as patch:

        def apply(keys: Mapping[str, object]) -> Config:
            for key, value in keys.items():
                patch.setenv(env_name(key), str(value))
            return reload_config()

        yield apply
    reload_config()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever touches the database runs on all of them, unless it says why not."""
    for item in items:
        if databases.touched_by(item) and item.get_closest_marker("sqlite") is None:
            item.add_marker("db")


def pytest_runtest_setup(item: pytest.Item) -> None:
    reason = item.get_closest_marker("sqlite")
    if reason is not None and databases.chosen() != "sqlite":
        pytest.skip(f"SQLite alone: {reason.args[0]}")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker) -> None:
    """Tests with real transactions empty every table afterwards, the audit trail too."""
    with django_db_blocker.unblock():
        databases.open_audit_trail()


from tests.models import no_model, scripted_model  # noqa: E402

__all__ = ["no_model", "scripted_model"]
