"""A state directory of its own for the whole run, made before the settings are read."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping

import pytest

for _name in [name for name in os.environ if name.startswith("GOCLAW_")]:
    del os.environ[_name]
_STATE = tempfile.mkdtemp(prefix="goclaw-tests-")
atexit.register(shutil.rmtree, _STATE, ignore_errors=True)
os.environ["GOCLAW_STATE_DIR"] = _STATE
os.environ["DJANGO_SETTINGS_MODULE"] = "goclaw_site.settings"
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import django  # noqa: E402

# pytest-django looks for settings before it reads this file, so it does not do it itself.
django.setup()

from goclaw_site.config import Config, reload_config  # noqa: E402
from goclaw_site.configkeys import env_name  # noqa: E402

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


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker) -> None:
    """Tests with real transactions empty every table afterwards, the audit trail too."""
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER IF EXISTS audit_trail_no_delete")


from tests.models import no_model, scripted_model  # noqa: E402

__all__ = ["no_model", "scripted_model"]
