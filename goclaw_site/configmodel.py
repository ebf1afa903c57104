"""The sections of the configuration: names, defaults and bounds, each declared once."""

import warnings
from collections.abc import Iterable, Iterator
from ipaddress import ip_network
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from croniter import croniter
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from goclaw_site.configsecrets import STARS


def _built_in(driver: str) -> str:
    if driver not in ("sqlite", "postgres"):
        raise ValueError(f"{driver} is not yet in this version; use sqlite or postgres")
    return driver


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(f"{name!r} is not a time zone, such as Europe/Berlin") from None
    return name


class Hiding(BaseModel):
    """Values from the vault are stars in every text that is made of a section."""

    _hidden: frozenset[str] = PrivateAttr(frozenset())

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What `repr` and `str` show."""
        for name, value in super().__repr_args__():
            yield name, STARS if name in self._hidden else value

    def hide(self, path: list[str]) -> None:
        """Print the value at this path as stars from now on."""
        inner = getattr(self, path[0], None)
        if isinstance(inner, Hiding) and path[1:]:
            inner.hide(path[1:])
        else:
            self._hidden |= {path[0]}


class Section(Hiding):
    """Frozen, and closed to keys that are not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_default(cls, value: object) -> object:
        """A section whose lines are all commented out arrives as None."""
        return {} if value is None else value


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


class Server(Section):
    """The web server."""

    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(8000, ge=1, le=65535, description="Port to listen on.")
    web_processes: int = Field(1, ge=1, le=64, description="Web server processes.")
    threads: int = Field(8, ge=1, le=128, description="Threads that answer, in each process.")
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Further host names under which browsers and agents reach the server."
    )
    secure: bool = Field(
        False,
        description="A proxy with HTTPS stands in front: secure cookies, redirects to HTTPS.",
    )
    public_url: str = Field(
        "",
        pattern=r"^(https?://[^\s]+)?$",
        description="Address under which people reach the server, for links.",
    )
    trusted_proxies: tuple[str, ...] = Field(
        ("127.0.0.1", "::1"),
        description="Addresses or networks of proxies in front; their X-Forwarded-For counts "
        "where server.secure is on, and login.proxy_header wherever it is set.",
    )
    base_path: str = Field(
        "",
        pattern=r"^(/[A-Za-z0-9._~-]+)*$",
        description="Path below which a proxy serves this server, such as /memory.",
    )

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for name in given:
            ip_network(name, strict=False)
        return given


class Keys(Section):
    """What one API key, and one address that guesses at keys, may ask for."""

    requests_per_minute: int = Field(
        30_000, ge=0, le=10_000_000, description="Requests of one key in a minute; 0: no limit."
    )
    guesses: int = Field(
        20,
        ge=1,
        le=100_000,
        description="Wrong keys from one address in five minutes, after which it has to wait.",
    )


class Oidc(Section):
    """Login through a provider of OpenID Connect (needs the extra `oidc`)."""

    issuer: str = Field(
        "",
        pattern=r"^(https?://[^\s]+)?$",
        description="Address of the provider; empty: off.",
    )
    client_id: str = Field("", description="Name of this server at the provider.")
    client_secret: SecretStr | None = Field(None, description="Secret of this server there.")
    scopes: tuple[str, ...] = Field(
        ("openid", "profile", "email"), description="What is asked of the provider."
    )
    username_claim: str = Field(
        "preferred_username", min_length=1, description="Claim that names the person."
    )
    label: str = Field("Single sign-on", min_length=1, description="Words on the button.")


class Login(Section):
    """How people sign in."""

    failures: int = Field(
        5,
        ge=1,
        le=1000,
        description="Wrong passwords for one name from one address in fifteen minutes, after "
        "which both have to wait; ten times as many for one address or one name alone.",
    )
    proxy_header: str = Field(
        "",
        pattern=r"^([A-Za-z][A-Za-z0-9-]*)?$",
        description="Header in which a trusted proxy names the person; empty: off.",
    )
    create_people: bool = Field(
        False,
        description="Whether somebody whom the proxy or the provider names for the first time "
        "becomes a person here.",
    )
    trust_usernames: bool = Field(
        False,
        description="Whether a name from the OpenID Connect provider is the person of that name "
        "here; otherwise an administrator links the two.",
    )
    oidc: Oidc = Oidc()


class Worker(Section):
    """Background work."""

    processes: int = Field(1, ge=1, le=64, description="Worker processes.")


class Queue(Section):
    """The job queue."""

    sweep_seconds: int = Field(
        60, ge=60, le=3600, description="Seconds between two searches for unfinished work."
    )
    retry_seconds: int = Field(
        300,
        ge=120,
        le=86400,
        description="Seconds after which an unanswered job is handed out again; a job is "
        "stopped 60 seconds earlier.",
    )
    redis: SecretStr | None = Field(
        None,
        description="Address of a Redis server that carries the jobs' messages, "
        "redis://host:6379/0 (needs the extra `redis`); empty: the database does.",
    )


with warnings.catch_warnings():
    # `json` is a method of BaseModel that pydantic itself has retired.
    warnings.filterwarnings("ignore", message='Field name "json"')

    class Log(Section):
        """What is written to standard error."""

        level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
            "INFO", description="Least level that is written."
        )
        json: bool = Field(  # type: ignore[assignment]
            False, description="One JSON object a line instead of text."
        )


class Chunk(Section):
    """How records are cut for the index."""

    size: int = Field(1600, ge=200, le=8000, description="Characters of a chunk, at most.")
    overlap: int = Field(
        320, ge=0, le=3999, description="Characters two chunks share; under half of the size."
    )

    @model_validator(mode="after")
    def _overlap_leaves_progress(self) -> Self:
        if self.overlap * 2 >= self.size:
            raise ValueError(
                f"overlap ({self.overlap}) must be less than half of size ({self.size})"
            )
        return self


class Search(Section):
    """Embedding provider and ranking."""

    provider: Literal["local", "fastembed", "openai", "none"] = Field(
        "local",
        description="Who makes the vectors: the bundled model, fastembed, a server that speaks "
        "OpenAI's protocol, or nobody (keyword search only).",
    )
    model: str | None = Field(
        None, min_length=1, description="Model name; empty means the provider's default."
    )
    dimensions: int | None = Field(
        None, ge=1, le=8192, description="Length of the vectors; empty means the model's own."
    )
    base_url: str | None = Field(
        None, pattern=r"^https?://[^\s]+$", description="Address of the provider's server."
    )
    api_key: SecretStr | None = Field(None, description="Key of the provider.")
    timeout_seconds: float = Field(
        30.0, gt=0, le=600, description="Seconds to wait for an answer of the provider."
    )
    batch_size: int = Field(32, ge=1, le=512, description="Texts sent to the provider at once.")
    min_score: float = Field(
        0.35, ge=0, le=1, description="Hits with a lower fused score are left out."
    )
    max_results: int = Field(6, ge=1, le=100, description="Hits of a search that names no number.")
    depth: int = Field(60, ge=1, le=1000, description="Candidates taken from each list.")
    rrf_k: float = Field(10.0, gt=0, le=1000, description="Constant of the reciprocal rank fusion.")
    keyword_weight: float = Field(1.0, ge=0, le=10, description="Weight of the keyword list.")
    vector_weight: float = Field(1.0, ge=0, le=10, description="Weight of the vector list.")
    neighbour_weight: float = Field(
        1.0, ge=0, le=10, description="Weight of the lists over neighbours of the same source."
    )
    half_life_days: float = Field(
        90.0, gt=0, le=36500, description="Days after which the temporal decay has halved a score."
    )
    decay_floor: float = Field(
        0.4, ge=0, le=1, description="Share of a score that decay always leaves."
    )
    min_similarity: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Least cosine that counts as evidence; negative turns the check off, empty "
        "means the model's measured value.",
    )
    gate_similarity: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Least cosine of the best hit for any answer at all; negative turns the gate "
        "off, empty means the model's measured value.",
    )


class WriteAccess(Section):
    """Who may write shared memory."""

    enabled: bool = Field(True, description="Whether the two lists below count.")
    roles: tuple[str, ...] = Field(
        ("admin",), description="Groups whose members may write shared memory."
    )
    users: tuple[str, ...] = Field((), description="People who may write shared memory.")


class Memory(Section):
    """The memory engine."""

    chunk: Chunk = Chunk()
    search: Search = Search()
    write_access: WriteAccess = WriteAccess()
    max_content_chars: int = Field(
        200_000, ge=1000, le=2_000_000, description="Longest record, in characters."
    )


class ChatModel(Section):
    """A chat model at an endpoint."""

    provider: Literal["anthropic", "openai", "gemini", "ollama", "none"] | None = Field(
        None,
        description="Who serves the model: Anthropic, OpenAI or any server that speaks its "
        "protocol, Google Gemini, Ollama; none turns it off, empty leaves the choice to the page "
        "Models.",
    )
    model: str = Field("", max_length=120, description="Name of the model at the provider.")
    base_url: str = Field(
        "",
        pattern=r"^(https?://[^\s@]+)?$",
        description="Address of the API; empty means the provider's own.",
    )
    api_key: SecretStr | None = Field(None, description="Key of the provider.")
    timeout_seconds: float = Field(
        50.0,
        gt=0,
        le=600,
        description="Seconds for an answer, with the tries after a busy or failing one.",
    )
    max_tokens: int = Field(
        4096, ge=64, le=200_000, description="Longest answer where a caller names no length."
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.provider not in (None, "none") and not self.model:
            raise ValueError(f"provider is {self.provider}, so model is needed too")
        if self.provider is None and (self.model or self.base_url or self.api_key):
            raise ValueError("provider is needed beside model, base_url and api_key")
        return self


class Gemini(Section):
    """Google Gemini for background work."""

    api_key: SecretStr | None = Field(
        None, description="Key of Gemini; with it background work uses Gemini by default."
    )
    model: str = Field(
        "gemini-flash-latest", min_length=1, max_length=120, description="Name of the model."
    )


class Ai(Section):
    """Chat models: one that agents talk with, a cheaper one for background work."""

    agent: ChatModel = ChatModel()
    background: ChatModel = ChatModel()
    gemini: Gemini = Gemini()


class Wiki(Section):
    """The wiki."""

    editors: Literal["everyone", "role"] = Field(
        "everyone",
        description="Who edits in the browser: everyone with a login, or administrators and "
        "members of the group `editor`.",
    )
    max_attachment_mb: int = Field(
        25, ge=1, le=10_000, description="Largest file on a page, in MiB."
    )


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


class Config(Hiding, BaseSettings):
    """All keys; the path of an attribute is the dotted key."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    database: Database = Database()
    server: Server = Server()
    keys: Keys = Keys()
    login: Login = Login()
    worker: Worker = Worker()
    queue: Queue = Queue()
    timezone: Annotated[str, AfterValidator(_time_zone)] = Field(
        "UTC", description="Time zone of schedules and of the pages."
    )
    log: Log = Log()
    backup: Backup = Backup()
    memory: Memory = Memory()
    ai: Ai = Ai()
    wiki: Wiki = Wiki()

    def starred(self, keys: Iterable[str]) -> Self:
        """The same configuration, which prints the values of these keys as stars."""
        for key in keys:
            self.hide(key.split("."))
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The values handed in are all there is: `load_config` reads file and environment."""
        return (init_settings,)
