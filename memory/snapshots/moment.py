"""Reading the whole database as it was at one moment, while others go on writing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

#: Django's own transactions take the write lock on SQLite, and see later commits on PostgreSQL.
_BEGIN = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "mysql": "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
}


@contextmanager
def one_moment() -> Iterator[None]:
    """Let every read inside see the same moment. Only read inside, and start no transaction."""
    if connection.in_atomic_block:
        yield
        return
    _execute(_BEGIN[connection.vendor])
    try:
        yield
    finally:
        _execute("ROLLBACK")


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
