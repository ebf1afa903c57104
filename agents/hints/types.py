"""What a pattern is, and what comes of one. Pure data."""

from __future__ import annotations

from dataclasses import dataclass

#: The tools whose failures are known; `sonarqube` is asked like `gitlab`.
FAMILIES = (
    "db_query",
    "db_analyze",
    "uptrace_query",
    "mcp",
    "gitlab",
    "sonarqube",
    "zabbix_query",
    "http_request",
    "message",
    "notify",
)
DATABASES = ("db_query", "db_analyze")
MESSAGES = ("message", "notify")

#: Characters of an error message that are taken; a tool that fails with more has other troubles.
MAX_ERROR = 1_048_576


@dataclass(frozen=True)
class Pattern:
    """A known message. `regex` is searched without regard to case; so is `also`, where it is set.

    Repeats in them are bounded, so that they are linear in the message. `hint` is empty where the
    agent can do nothing; its braces take the named groups of `regex`, and {near} what `names`
    (column, table) of the schema comes nearest to the group `name`. `examples` are real messages,
    and the tests.
    """

    name: str
    families: tuple[str, ...]
    category: str
    regex: str
    examples: tuple[str, ...]
    hint: str = ""
    also: str = ""
    names: str = ""

    @property
    def fixable(self) -> bool:
        """Whether the agent can do better by changing its approach."""
        return bool(self.hint)


@dataclass(frozen=True)
class Advice:
    """The answer about one failure; `hint` is empty where it is not `fixable`."""

    fixable: bool
    hint: str
    category: str
    pattern: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the answer of the API."""
        return {"fixable": self.fixable, "hint": self.hint, "category": self.category}
