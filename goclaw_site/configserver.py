"""Sections about the processes: web server, logins, workers, queue, log."""

import warnings
from ipaddress import ip_network
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from goclaw_site.configbase import Section


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
