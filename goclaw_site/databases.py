"""Which database serves: Django's settings for it, and what a system needs around its use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from goclaw_site import embeddedpostgres, postgres
from goclaw_site.config import Config, database_file, get_config
from goclaw_site.errors import ConfigError

#: Seconds a writer waits for another one, on either system.
LOCK_SECONDS = 20
#: A transaction that does nothing for so long belongs to a process that hangs.
_IDLE_SECONDS = 300
_CONNECT_SECONDS = 10
#: Candidates an HNSW index looks at: recall@10 of .98 and more (benchmarks.backends).
_EF_SEARCH = 300
_SQLITE_START = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000; "
    "PRAGMA mmap_size=268435456; PRAGMA journal_size_limit=67108864;"
)
# What a forked process inherits and must neither use nor close.
_parents: list[object] = []


def settings_of(config: Config, state: Path) -> dict[str, dict[str, Any]]:
    """Return Django's DATABASES. Raises ConfigError where the address cannot be read."""
    if config.database.driver == "postgres":
        _forget_in_children()
        return {"default": _postgres(config, state)}
    return {"default": _sqlite(config, state)}


def described() -> str:
    """Return the database's name for messages, without its password."""
    config = get_config()
    if config.database.driver != "postgres":
        return str(database_file(config))
    if config.database.embedded:
        return f"in {embeddedpostgres.data_folder()}"
    from django.db import connection

    held = connection.settings_dict
    return f"{held['NAME']} on {held['HOST'] or 'localhost'}"


def verify() -> None:
    """Raise ConfigError, with the way out, where the server cannot serve this product."""
    if get_config().database.driver == "postgres":
        postgres.verify()


@contextmanager
def exclusive() -> Iterator[None]:
    """Migrate and set up: one process at a time, however many hosts start, without time limits."""
    if get_config().database.driver != "postgres":
        yield
        return
    with postgres.exclusive():
        yield


def close() -> None:
    """Close this thread's connections, and the pools: call before processes part."""
    from django.db import connections

    for connection in connections.all(initialized_only=True):
        connection.close()
        # Of the systems that have pools.
        getattr(connection, "close_pool", lambda: None)()


def _sqlite(config: Config, state: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": database_file(config, state),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": LOCK_SECONDS,
            # DEFERRED fails with "database is locked" where two transactions upgrade at once.
            "transaction_mode": "IMMEDIATE",
            "init_command": _SQLITE_START,
        },
        # A real file: threads and WAL do not work on a database in memory.
        "TEST": {"NAME": state / "test.sqlite"},
    }


def _postgres(config: Config, state: Path) -> dict[str, Any]:
    pooled = config.database.pool_size
    address = _address(config, state)
    settings: dict[str, Any] = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": address.pop("dbname", config.database.name),
        "USER": address.pop("user", config.database.user),
        "PASSWORD": address.pop("password", ""),
        "HOST": address.pop("host", ""),
        "PORT": str(address.pop("port", config.database.port)),
        # The web server's threads are few and fixed, so that each may keep its connection; a pool
        # takes them back after each request.
        "CONN_MAX_AGE": 0 if pooled else None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "application_name": "goclaw",
            "connect_timeout": _CONNECT_SECONDS,
            # A server that is gone is noticed within a minute.
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            **address,
            "options": " ".join([address.get("options", ""), *_session(config)]).strip(),
        },
    }
    if pooled:
        settings["OPTIONS"]["pool"] = {"min_size": 1, "max_size": pooled, "timeout": LOCK_SECONDS}
    return settings


def _session(config: Config) -> list[str]:
    """Return what every session starts with, so that no query has to set it."""
    values = {
        "statement_timeout": config.database.statement_seconds * 1000,
        "lock_timeout": LOCK_SECONDS * 1000,
        "idle_in_transaction_session_timeout": _IDLE_SECONDS * 1000,
        "jit": "off",
        "hnsw.iterative_scan": "strict_order",
        "hnsw.ef_search": _EF_SEARCH,
        "hnsw.max_scan_tuples": 40_000,
    }
    return [f"-c {name}={value}" for name, value in values.items()]


def _address(config: Config, state: Path) -> dict[str, Any]:
    database = config.database
    if database.embedded:
        return embeddedpostgres.address(state)
    if database.url is not None:
        return _from_url(database.url.get_secret_value())
    secret = database.password.get_secret_value() if database.password else ""
    return {
        "host": database.host,
        "port": database.port,
        "dbname": database.name,
        "user": database.user,
        "password": secret,
        "sslmode": database.sslmode,
    }


def _from_url(url: str) -> dict[str, Any]:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:
        # The error would quote the password.
        raise ConfigError(
            "database.url cannot be read. Its form is postgresql://user:password@host:5432/name; "
            "signs such as @ and / in the password are written as %40 and %2F."
        ) from None


@cache
def _forget_in_children() -> None:
    """Two processes on one connection mix up its messages: a child makes connections of its own."""
    os.register_at_fork(after_in_child=_leave_to_parent)


def _leave_to_parent() -> None:
    from django.db import connections
    from django.db.backends.postgresql.base import DatabaseWrapper

    backend: Any = DatabaseWrapper
    for wrapper in connections.all(initialized_only=True):
        if isinstance(wrapper, DatabaseWrapper):
            # Kept, not closed: to close is to tell the server, over the parent's socket.
            _parents.append(wrapper.connection)
            wrapper.connection = None
    pools: dict[str, Any] = backend._connection_pools  # noqa: SLF001
    _parents.extend(pools.values())
    pools.clear()
