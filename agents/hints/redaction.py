"""Error messages without the secrets that they quote, for the log."""

from __future__ import annotations

import re

_SHOWN = 300
_KEPT = r"\1***"
#: Words that stand before a secret, and shapes that are one.
_NAMED = (
    r"((?:pass(?:word|wd)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?token|"
    r"authorization|cookie|session(?:id)?|signature|credential)s?[\"']?\s{0,3}[:=]\s{0,3})"
    r"(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^\s,;&}]{1,2000})"
)
_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"(//[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)", _KEPT),
        (r"\b((?:bearer|basic|token)\s{1,3})[a-z0-9._~+/=-]{6,2000}", _KEPT),
        (_NAMED, _KEPT),
        (r"\b(?:glpat|gc|ghp|gho|sk|pk|xox[abp]|squ|sqp)[_-][a-z0-9_-]{8,2000}", "***"),
        (r"\beyj[a-z0-9_-]{8,2000}\.[a-z0-9._-]{1,4000}", "***"),
        (r"\b[a-z0-9+/_-]{32,2000}={0,2}", "***"),
    )
)


def redacted(text: str) -> str:
    """Return the beginning of a message on one line, with whatever looks like a secret starred."""
    # Some room past what is shown, so that a secret on the edge is seen whole.
    line = " ".join(text[: 4 * _SHOWN].split())
    for rule, replacement in _RULES:
        line = rule.sub(replacement, line)
    return line[:_SHOWN]
