"""Who carries the queue's messages: the database, or Redis."""

from __future__ import annotations

import importlib.util
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from goclaw_site.config import Config, get_config
from goclaw_site.errors import ConfigError

#: A Redis that hangs must not hold up a request; workers wait for a message one second at a time.
_PATIENCE = {"socket_connect_timeout": "3", "socket_timeout": "5"}


def settings_of(config: Config) -> dict[str, Any]:
    """Return django-q's settings of the broker. Raises ConfigError without the package."""
    if config.queue.redis is None:
        return {"orm": "default"}
    if importlib.util.find_spec("redis") is None:
        raise ConfigError(
            'queue.redis needs the package redis: pip install "goclaw-memory[redis]".'
        )
    return {"redis": _patient(config.queue.redis.get_secret_value())}


def verify() -> None:
    """Raise ConfigError where Redis is configured and does not answer."""
    if get_config().queue.redis is None:
        return
    from django_q.brokers import get_broker

    try:
        get_broker().ping()
    except Exception as error:
        # Whatever its client raises; the address, with its password, is not quoted.
        raise ConfigError(
            f"Redis does not answer ({type(error).__name__}): look at queue.redis, or leave it "
            "empty, and the database carries the messages."
        ) from None


def _patient(url: str) -> str:
    parts = urlsplit(url)
    query = urlencode({**_PATIENCE, **dict(parse_qsl(parts.query))})
    return urlunsplit(parts._replace(query=query))
