"""Search backends: SQL and value conversion only; ranking never leaks into them."""

from __future__ import annotations

from django.db import connection

from goclaw_site.errors import Unavailable
from memory.search.backends.base import SearchBackend
from memory.search.backends.postgres import PostgresBackend
from memory.search.backends.sqlite import SqliteBackend

_BACKENDS: dict[str, SearchBackend] = {
    "sqlite": SqliteBackend(),
    "postgresql": PostgresBackend(),
}


def current() -> SearchBackend:
    """Return the backend of the database in use."""
    backend = _BACKENDS.get(connection.vendor)
    if backend is None:
        raise Unavailable(f"There is no search on {connection.vendor} in this version.")
    return backend
