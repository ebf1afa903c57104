"""From an empty folder to a database that can be served."""

import http.client
import secrets
from http import HTTPStatus
from importlib import import_module

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from goclaw_site import broker, databases
from goclaw_site.commands import OURS
from goclaw_site.config import extra_variable
from goclaw_site.errors import ConfigError
from memory import audit, providers, schedules
from memory.backups import waiting
from memory.snapshots import importing

ADMINISTRATOR = "admin"
_PROBE_SECONDS = 2.0


def prepare() -> None:
    """Migrate, make the first administrator, install the schedules, load the model once."""
    try:
        broker.verify()
        databases.verify()
        with databases.exclusive():
            waiting.load()
            refuse_newer_database()
            call_command("migrate", verbosity=0, interactive=False)
            importing.finish_interrupted()
            make_administrator()
            schedules.install()
            audit.tell()
    except DatabaseError as error:
        name = databases.described()
        raise ConfigError(f"The database {name} cannot be used: {error}.") from None
    # Before the processes part, so that they share one copy of the weights and of the code.
    providers.preload()
    import_module(settings.ROOT_URLCONF)


def refuse_newer_database() -> None:
    """Migrations that were applied, but are not in this version, mean a newer one ran here.

    Only ours: other packages now and then fold old migrations into one and delete them.
    """
    loader = MigrationLoader(connection)
    applied = loader.applied_migrations or {}
    missing = set(applied) - set(loader.disk_migrations or {})
    unknown = sorted(key for key in missing if key[0] in OURS)
    if unknown:
        app, name = unknown[-1]
        raise ConfigError(
            f"The database {databases.described()} was made by a newer version ({app}.{name} is "
            "not known to this one). Install that version, or restore a backup."
        )


def make_administrator() -> None:
    """On the first start only; the password is printed once and stored hashed."""
    if User.objects.filter(is_superuser=True).exists():
        return
    if User.objects.filter(username=ADMINISTRATOR).exists():
        print("There is no administrator: `goclaw createsuperuser` makes one.", flush=True)
        return
    given = extra_variable("GOCLAW_ADMIN_PASSWORD")
    password = given or secrets.token_urlsafe(12)
    User.objects.create_superuser(ADMINISTRATOR, password=password)
    print(_account(None if given else password), flush=True)


def answers(host: str, port: int) -> bool:
    """Whether /healthz says ok."""
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    probe = http.client.HTTPConnection(target, port, timeout=_PROBE_SECONDS)
    try:
        probe.request("GET", "/healthz", headers={"Host": "localhost"})
        return probe.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        probe.close()


def _account(password: str | None) -> str:
    shown = password or "(from GOCLAW_ADMIN_PASSWORD)"
    return (
        "\n  An administrator has been made. The password is not shown again.\n"
        f"    name      {ADMINISTRATOR}\n    password  {shown}\n"
    )
