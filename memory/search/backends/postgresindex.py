"""The HNSW index of one model's vectors: made while others read and write, on a session of its own.

PostgreSQL builds it to the end even where the process that asked is gone, so a job only starts it
and looks in from time to time.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

from django.db import connection, connections

from memory.search.backends.base import Progress

#: pgvector indexes half floats up to here; longer vectors are compared one by one.
MOST_DIMENSIONS = 4000
_REMEMBERED = 30.0
_PAUSE = 0.5
_CONNECTIONS, _DEPTH = 24, 128

_ready: dict[tuple[str, str, int], float] = {}
# The sessions in which this process has an index built.
_building: dict[str, Any] = {}


def name_of(model: str, dimensions: int) -> str:
    """Return the index's name: models have names that no identifier could hold."""
    digest = hashlib.sha256(f"{model}\0{dimensions}".encode()).hexdigest()[:16]
    return f"memory_chunks_hnsw_{digest}"


def ready(model: str, dimensions: int) -> bool:
    """Whether the index is there and whole; a yes is remembered for half a minute."""
    key = (str(connection.settings_dict["NAME"]), model, dimensions)
    if _ready.get(key, 0.0) > time.monotonic():
        return True
    found = _state(name_of(model, dimensions)) == "valid"
    if found:
        _ready[key] = time.monotonic() + _REMEMBERED
    return found


def missing(model: str, exact_up_to: int) -> bool:
    """Whether so many vectors are there that an index pays, and none is."""
    dimensions = _dimensions(model)
    if not dimensions or dimensions > MOST_DIMENSIONS:
        return False
    if _state(name_of(model, dimensions)) == "valid":
        return False
    sql = "SELECT count(*) FROM (SELECT 1 FROM memory_chunks WHERE embedding_model = %s LIMIT %s) x"
    return bool(_one(sql, [model, exact_up_to + 1]) > exact_up_to)


def build(model: str, deadline: float) -> Progress:
    """Start the building or look how far it is, until the deadline (monotonic seconds)."""
    dimensions = _dimensions(model)
    if not dimensions or dimensions > MOST_DIMENSIONS:
        return Progress(0, 0, finished=True)
    name = name_of(model, dimensions)
    while True:
        state = _state(name)
        if state == "valid":
            _drop_session(name)
            return Progress(1, 1, finished=True)
        if not _at_work(name):
            _begin(name, model, dimensions, broken=state == "invalid")
        if time.monotonic() >= deadline:
            return _progress()
        time.sleep(_PAUSE)


def _begin(name: str, model: str, dimensions: int, *, broken: bool) -> None:
    """Send the statement and do not wait: it may take longer than any job."""
    _drop_session(name)
    session = connections.create_connection("default")
    session.settings_dict = {**connection.settings_dict, "CONN_MAX_AGE": 0}
    session.settings_dict["OPTIONS"] = {
        key: value for key, value in connection.settings_dict["OPTIONS"].items() if key != "pool"
    }
    with session.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        cursor.execute("SET maintenance_work_mem = '512MB'")
        if broken:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    statement = _statement(name, _literal(model), dimensions)
    assert session.connection is not None
    session.connection.pgconn.send_query(statement.encode())
    session.connection.pgconn.flush()
    _building[name] = session


def _statement(name: str, model: str, dimensions: int) -> str:
    return (
        f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON memory_chunks USING hnsw"
        f" ((embedding::halfvec({dimensions})) halfvec_cosine_ops)"
        f" WITH (m = {_CONNECTIONS}, ef_construction = {_DEPTH})"
        f" WHERE embedding_model = {model} AND embedding_dim = {dimensions}"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _drop_session(name: str) -> None:
    session = _building.pop(name, None)
    if session is not None:
        session.close()


def _at_work(name: str) -> bool:
    """Whether some session builds it, ours or that of a process that is gone."""
    sql = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'"
        " AND query LIKE %s AND pid <> pg_backend_pid()"
    )
    return _one(sql, [f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} %"]) is not None


def _progress() -> Progress:
    sql = (
        "SELECT tuples_done, tuples_total, blocks_done, blocks_total"
        " FROM pg_stat_progress_create_index WHERE datname = current_database()"
        " AND relid = 'memory_chunks'::regclass LIMIT 1"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone() or (0, 0, 0, 0)
    done, total = (row[2], row[3]) if row[3] else (row[0], row[1])
    return Progress(int(done or 0), int(total or 0), finished=False)


def _state(name: str) -> str:
    sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    valid = _one(sql, [name])
    return "none" if valid is None else "valid" if valid else "invalid"


def _dimensions(model: str) -> int:
    sql = "SELECT embedding_dim FROM memory_chunks WHERE embedding_model = %s LIMIT 1"
    return int(_one(sql, [model]) or 0)


def _one(sql: str, params: list[Any]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    return row[0] if row else None
