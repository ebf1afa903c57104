"""What is asked of a PostgreSQL server before it may serve, in words for who set it up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from goclaw_site.errors import ConfigError

OLDEST = 14
OLDEST_VECTOR = (0, 8)
#: Names our lock among those of other programs on the server.
_LOCK = 0x676F636C6177
_CREATE_DATABASE = (
    "CREATE DATABASE {name} OWNER {user} TEMPLATE template0 ENCODING 'UTF8' "
    "LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'"
)
# Words of the server or of libpq, and what to do.
_ADVICE = (
    ("password authentication failed", "The password or the user is wrong: look at {keys}."),
    ("no password supplied", "The server wants a password: set database.password."),
    ("no pg_hba.conf entry", "The server lets nobody in from here: its pg_hba.conf decides."),
    ("does not exist", "Make role and database on the server: {create};"),
    ("too many clients", "The server has no connection left: raise its max_connections."),
    ("remaining connection slots", "The server has no connection left: raise max_connections."),
    ("starting up", "The server is starting; try again in a moment."),
    ("could not translate host name", "There is no host of that name: look at {keys}."),
    ("failed to resolve host", "There is no host of that name: look at {keys}."),
    ("Connection refused", "Nothing listens there: is the server running, and the port right?"),
    ("No such file", "Nothing listens there: is the server running?"),
    ("timeout", "No answer came: is a firewall in between?"),
    ("SSL", "Look at database.sslmode."),
)


def verify() -> None:
    """Raise ConfigError where server, version, encoding, order or extension do not fit."""
    from django.db import connection
    from django.db.utils import NotSupportedError, OperationalError

    try:
        connection.ensure_connection()
    except NotSupportedError as error:
        raise ConfigError(f"This PostgreSQL is too old: {_first_line(error)}.") from None
    except OperationalError as error:
        raise ConfigError(_unreachable(error)) from None
    with connection.cursor() as cursor:
        _require_version(cursor)
        _require_text(cursor)
        _require_rights(cursor)
        _require_extension(cursor)


@contextmanager
def exclusive() -> Iterator[None]:
    """Hold the one lock of all our processes on this database; no statement has a time limit."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN"
                       " ('statement_timeout', 'lock_timeout',"
                       " 'idle_in_transaction_session_timeout')")  # fmt: skip
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        # The lock and the limits are the session's: they go with it.
        connection.close()


def _require_version(cursor: Any) -> None:
    number = int(_value(cursor, "SHOW server_version_num"))
    if number < OLDEST * 10_000:
        raise ConfigError(
            f"The server is PostgreSQL {number // 10_000}; {OLDEST} or newer is needed."
        )


def _require_text(cursor: Any) -> None:
    """UTF-8, in the order of its code points, so that lists read alike on every system."""
    encoding = _value(cursor, "SHOW server_encoding")
    if encoding != "UTF8":
        raise ConfigError(
            f"The database {_name()} is encoded as {encoding}, and only UTF8 holds every text. "
            f"Make another one: {_create()};"
        )
    if not _value(cursor, "SELECT 'Z' < 'a' AND 'z' < 'é' AND 'b' > '-c'"):
        raise ConfigError(
            f"The database {_name()} sorts text by the rules of a language, and this product by "
            f"code points (C or C.UTF-8). Make another one: {_create()};"
        )


def _require_rights(cursor: Any) -> None:
    if _value(cursor, "SELECT pg_is_in_recovery()"):
        raise ConfigError("The server is a replica, which takes no writes: name the primary.")
    if not _value(cursor, "SELECT has_schema_privilege(current_schema(), 'CREATE')"):
        raise ConfigError(
            f"The role {_user()} may not make tables in {_name()}. As administrator of the "
            f"server: ALTER DATABASE {_name()} OWNER TO {_user()};"
        )


def _require_extension(cursor: Any) -> None:
    held = _value(cursor, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if held is None:
        _create_extension(cursor)
        held = _value(cursor, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if tuple(int(part) for part in str(held).split(".")[:2]) < OLDEST_VECTOR:
        raise ConfigError(
            f"The extension vector is {held}; 0.8 or newer is needed. Install a newer pgvector, "
            "then, as administrator of the server: ALTER EXTENSION vector UPDATE;"
        )


def _create_extension(cursor: Any) -> None:
    from django.db import DatabaseError

    offered = _value(cursor, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
    if offered is None:
        raise ConfigError(
            "The server has no extension vector: install pgvector 0.8 or newer there (Debian: "
            "the package postgresql-<version>-pgvector)."
        )
    try:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except DatabaseError as error:
        raise ConfigError(
            f"The extension vector cannot be made ({_first_line(error)}). As administrator of "
            f"the server, in the database {_name()}: CREATE EXTENSION vector;"
        ) from None


def _unreachable(error: Exception) -> str:
    said = " ".join(str(error).split())
    found = (advice for words, advice in _ADVICE if words in said)
    keys = "database.url, or database.host, user and password"
    advice = next(found, "Look at the keys of the section database.")
    return f"The database cannot be reached: {said}. " + advice.format(keys=keys, create=_create())


def _create() -> str:
    return _CREATE_DATABASE.format(name=_name(), user=_user())


def _name() -> str:
    from django.db import connection

    return str(connection.settings_dict["NAME"])


def _user() -> str:
    from django.db import connection

    return str(connection.settings_dict["USER"])


def _value(cursor: Any, sql: str) -> Any:
    cursor.execute(sql)
    row = cursor.fetchone()
    return row[0] if row else None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")
