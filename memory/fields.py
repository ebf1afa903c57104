"""Column types that differ between databases."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from memory.vectors import FloatVector, pack, unpack


class VectorField(models.Field[Any, Any]):
    """A unit vector of any dimension; float32 in Python.

    On SQLite and MySQL it is kept as int8 with a scale (`memory.vectors`), a quarter of the space
    at under .002 of recall; on PostgreSQL it is a pgvector column with indexes per model. The int8
    form may be written as it is, as bytes.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return {"postgresql": "vector", "mysql": "longblob"}.get(connection.vendor, "BLOB")

    def from_db_value(
        self, value: Any, expression: Any, connection: BaseDatabaseWrapper
    ) -> FloatVector | None:
        if value is None:
            return None
        if connection.vendor == "postgresql":
            return np.asarray(_floats(value), dtype=np.float32)
        return unpack(bytes(value))

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        if value is None:
            return None
        if isinstance(value, bytes) and connection.vendor != "postgresql":
            return value
        vector = unpack(value) if isinstance(value, bytes) else np.asarray(value, np.float32)
        if connection.vendor == "postgresql":
            return as_text(vector)
        return pack(vector)


def stored(column: str) -> models.Expression:
    """Return the column as the database holds it: int8 with a scale as bytes, or float32."""
    return models.ExpressionWrapper(models.F(column), output_field=_Stored())


class _Stored(models.BinaryField[Any, Any]):
    """Bytes, or an array where the driver has vectors."""

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        if value is None or connection.vendor != "postgresql":
            return None if value is None else bytes(value)
        return np.asarray(_floats(value), dtype=np.float32)


def as_text(vector: FloatVector) -> str:
    """Return pgvector's form of a vector; nine digits are all that float32 holds."""
    return "[" + ",".join([f"{x:.9g}" for x in vector.tolist()]) + "]"


def _floats(value: Any) -> Any:
    """Accept what pgvector's own adapter gives, or its text form."""
    if isinstance(value, str):
        return np.fromstring(value[1:-1], dtype=np.float32, sep=",")
    return value
