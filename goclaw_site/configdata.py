"""Sections about what is kept: the database and its copies."""

from typing import Annotated, Literal, Self

from croniter import croniter
from pydantic import AfterValidator, Field, SecretStr, model_validator

from goclaw_site.configbase import Section


def _built_in(driver: str) -> str:
    if driver not in ("sqlite", "postgres"):
        raise ValueError(f"{driver} is not yet in this version; use sqlite or postgres")
    return driver


class Database(Section):
    """Where rows are kept."""

    driver: Annotated[
        Literal["sqlite", "postgres", "mysql", "clickhouse"], AfterValidator(_built_in)
    ] = Field("sqlite", description="Database system: sqlite, or postgres with pgvector.")
    path: str = Field(
        "gc_state.sqlite",
        min_length=1,
        description="SQLite file; a relative path stands in the state directory.",
    )
    embedded: bool = Field(
        False,
        description="Run a private PostgreSQL in the state directory (needs the extra `postgres`).",
    )
    url: SecretStr | None = Field(
        None,
        description="Address of a PostgreSQL server, postgresql://user:password@host:5432/name; "
        "instead of the keys below.",
    )
    host: str = Field("", description="PostgreSQL server, or the folder of its socket.")
    port: int = Field(5432, ge=1, le=65535, description="Port of the PostgreSQL server.")
    name: str = Field("goclaw", min_length=1, max_length=63, description="Database on the server.")
    user: str = Field("goclaw", min_length=1, max_length=63, description="Role on the server.")
    password: SecretStr | None = Field(None, description="Password of the role.")
    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] = Field(
        "prefer", description="Encryption of the connection, as libpq names it."
    )
    statement_seconds: int = Field(
        60,
        ge=0,
        le=86_400,
        description="PostgreSQL gives a statement up after this; 0: never. Migrations and the "
        "building of indexes are exempt.",
    )
    pool_size: int = Field(
        0,
        ge=0,
        le=1000,
        description="Most PostgreSQL connections of one process, shared by its threads; 0: each "
        "thread keeps its own.",
    )
    allow_network_filesystem: bool = Field(
        False,
        description="Start although the state directory lies on NFS or SMB, where SQLite may "
        "lose data.",
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.driver == "postgres":
            named = [bool(self.host), self.url is not None, self.embedded]
            if sum(named) != 1:
                raise ValueError(
                    "postgres needs one of database.url, database.host and database.embedded"
                )
        return self


def _cron(expression: str) -> str:
    if expression and not croniter.is_valid(expression):
        raise ValueError(f"{expression!r} is no cron expression, such as '30 2 * * *'")
    return expression


class Backup(Section):
    """Copies that the server makes by itself."""

    schedule: Annotated[str, AfterValidator(_cron)] = Field(
        "30 2 * * *",
        description="When everything is backed up, as minute, hour, day, month, weekday in "
        "`timezone`; empty: never.",
    )
    folder: str = Field(
        "backups",
        min_length=1,
        description="Where to; best on another disk. A relative path stands in the state "
        "directory.",
    )
    keep: int = Field(7, ge=1, le=1000, description="Scheduled backups that are kept.")
    secrets: bool = Field(
        False, description="Whether they hold the vault and the key that signs sessions."
    )
    keep_automatic: int = Field(
        10,
        ge=1,
        le=1000,
        description="Copies of the database, made before deletions and upgrades, that are kept.",
    )
