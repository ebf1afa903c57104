"""SonarQube: {"errors": [{"msg": …}]}. Agents reach it by a tool of its own, HTTP or GitLab's."""

from agents.hints.types import Pattern

_FAMILIES = ("sonarqube", "http_request", "gitlab")


def _pattern(name: str, category: str, regex: str, hint: str, *examples: str) -> Pattern:
    return Pattern(f"sonarqube_{name}", _FAMILIES, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "component",
        "not_found",
        r"\"msg\": ?\"(?:component|project)(?: key)? '(?P<name>[^'\n]{1,200})'"
        r"(?: on (?:branch|pull request) '(?P<branch>[^'\n]{1,200})')? (?:not found|doesn't exist)|"
        r"\"msg\": ?\"(?:project|component)[^\"\n]{0,30} not found",
        "There is no component {name} {branch}. Search the key with "
        "/api/components/search?qualifiers=TRK&q=…; keys are case-sensitive, branches are listed by "
        "/api/project_branches/list.",
        '{"errors":[{"msg":"Component key \'shop\' not found"}]}',
        '{"errors":[{"msg":"Component \'shop\' on branch \'dev\' not found"}]}',
        '{"errors":[{"msg":"Project not found"}]}',
    ),
    _pattern(
        "missing",
        "missing_argument",
        r"the '(?P<name>[\w, '.]{1,120}?)' parameters? (?:is|are) missing|"
        r"(?:either|at least one of)[^\"\n]{0,150}must be (?:provided|set)",
        "The parameter {name} is required. Send it and try again.",
        '{"errors":[{"msg":"The \'component\' parameter is missing"}]}',
        '{"errors":[{"msg":"Either \'projectId\' or \'projectKey\' must be provided"}]}',
    ),
    _pattern(
        "one_of",
        "wrong_argument",
        r"value of parameter '(?P<name>\w{1,60})' \((?P<value>[^)\n]{0,80})\) must be one of: "
        r"\[(?P<allowed>[^\]\n]{1,300})",
        "{name} cannot be {value}; it takes {allowed}.",
        '{"errors":[{"msg":"Value of parameter \'severities\' (HIGH) must be one of: [INFO, MINOR, '
        'MAJOR, CRITICAL, BLOCKER]"}]}',
    ),
    _pattern(
        "url",
        "unknown_path",
        r"unknown url ?: ?(?P<name>[^\"\s]{1,150})",
        "SonarQube has no {name}. /api/webservices/list names every path.",
        '{"errors":[{"msg":"Unknown url : /api/issues/serch"}]}',
    ),
    _pattern(
        "metric",
        "unknown_field",
        r"(?:metric keys? (?:are|is) not found|unknown metric\(?s?\)?): ?(?P<name>[\w, ]{1,150})",
        "There are no metrics {name}. /api/metrics/search lists the keys, as coverage, bugs, ncloc.",
        '{"errors":[{"msg":"The following metric keys are not found: coverge"}]}',
    ),
    _pattern(
        "window",
        "wrong_argument",
        r"can return only the first (?P<name>[\d,]{1,9}) results",
        "Only the first {name} results can be paged. Narrow the query (by date, severity, "
        "component), and go on from there.",
        '{"errors":[{"msg":"Can return only the first 10000 results. 10100th result asked."}]}',
    ),
    _pattern(
        "page_size",
        "wrong_argument",
        r"'(?P<name>ps|pageSize|p)' value \((?P<value>\d{1,9})\) must be (?P<said>[\w ]{1,40})",
        "{name} is {value}; it must be {said}.",
        '{"errors":[{"msg":"\'ps\' value (600) must be less than 500"}]}',
    ),
    _pattern(
        "date",
        "wrong_argument",
        r"date '(?P<name>[^'\n]{0,60})' cannot be parsed",
        "{name} is no date. Write 2026-01-31, or 2026-01-31T09:00:00+0000.",
        '{"errors":[{"msg":"Date \'yesterday\' cannot be parsed as either a date or date+time"}]}',
    ),
)
