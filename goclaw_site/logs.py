"""Log lines on standard error: time, level, logger, request id, message; or JSON."""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from goclaw_site.configsecrets import stars

request_id: ContextVar[str] = ContextVar("request_id", default="-")


class RequestIdFilter(logging.Filter):
    """Puts the id of the running request on every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Never drops a record."""
        record.request_id = request_id.get()
        return True


class WithoutTraceFilter(logging.Filter):
    """For refusals that anybody on the network can cause as often as they like."""

    def filter(self, record: logging.LogRecord) -> bool:
        """The message says all there is to know."""
        record.exc_info = record.exc_text = None
        return True


class LineFormatter(logging.Formatter):
    """One line a record; a traceback, where there is one, follows on lines of its own."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """ISO 8601 in UTC."""
        return _when(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """A message with line breaks could pose as a second record."""
        return super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        """Secrets of the configuration are stars, in a traceback too."""
        return stars(super().format(record))


class JsonFormatter(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        """The keys are stable; `trace` is there only after an exception."""
        entry = {
            "time": _when(record),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", "-"),
            "message": stars(record.getMessage()),
        }
        if record.exc_info:
            entry["trace"] = stars(self.formatException(record.exc_info))
        return json.dumps(entry, ensure_ascii=False)


def logging_settings(level: str, as_json: bool) -> dict[str, Any]:
    """Django's LOGGING; the queue's own line per job is for debugging only."""
    handler = {
        "class": "logging.StreamHandler",
        "filters": ["request_id"],
        "formatter": "json" if as_json else "line",
    }
    quiet = level if level in ("DEBUG", "ERROR") else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "request_id": {"()": "goclaw_site.logs.RequestIdFilter"},
            "without_trace": {"()": "goclaw_site.logs.WithoutTraceFilter"},
        },
        "formatters": {
            "line": {"()": "goclaw_site.logs.LineFormatter"},
            "json": {"()": "goclaw_site.logs.JsonFormatter"},
        },
        "handlers": {"stderr": handler},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.security.DisallowedHost": {"filters": ["without_trace"]},
            "django-q": {"handlers": ["stderr"], "level": quiet, "propagate": False},
            # These write addresses and headers of requests at INFO and DEBUG.
            **{name: {"level": "WARNING"} for name in ("httpx", "httpcore", "openai", "uvicorn")},
        },
    }


def _when(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
