"""Invented data that the components page shows."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.utils import timezone

from memory.pages import differences
from memory.pages.browsing import Row
from memory.pages.sentences import scope_words


def specimens() -> dict[str, Any]:
    """Return one of everything."""
    return {
        "rows": _rows(),
        "parts": differences.compare(
            "The payments gateway address is 10.0.0.5.", "The payments gateway address is 10.0.0.7."
        ),
        "colours": ("accent", "ok", "warn", "bad", "ink", "surface", "sunken", "mark"),
        "now": timezone.now() - timedelta(days=3),
    }


def _rows() -> list[Row]:
    at = timezone.now() - timedelta(days=3)

    def row(says: str, scope: str, kind: str, **more: Any) -> Row:
        return Row(uuid.uuid4(), "#rows", says, scope_words(scope), kind, "network", (), at, **more)

    return [
        row("The gateway is 10.0.0.7 since the move to rack C.", "agent_notes", "fact"),
        row("Drain the queue before a restart.", "global", "guideline", critical=True),
        row("The gateway is 10.0.0.5.", "agent_notes", "fact", superseded=True),
        row("Answers in French, please.", "personal", "preference", unverified=True, waiting=True),
    ]
