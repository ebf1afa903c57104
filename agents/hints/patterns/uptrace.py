"""Uptrace: its query language (parts between | ), and the errors of its API."""

from agents.hints.types import Pattern

_FAMILIES = ("uptrace_query",)


def _pattern(name: str, category: str, regex: str, hint: str, *examples: str) -> Pattern:
    return Pattern(f"uptrace_{name}", _FAMILIES, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "metric_alias",
        "unknown_column",
        r"can't find metric with alias \\?\"?(?P<name>[^\"\\\n]{1,100})",
        "No metric has the alias {name}. Declare it among the metrics as `name as $alias`, and write "
        "the $ in the query.",
        '{"status":400,"code":"bad_request","message":"can\'t find metric with alias \\"cpu\\""}',
        'can\'t find metric with alias "reqs"',
    ),
    _pattern(
        "one_metric",
        "syntax",
        r"where must reference a single metric",
        "One `where` part filters one metric: write a `where` part for each, joined by |.",
        'where must reference a single metric: "cpu" != "mem"',
    ),
    _pattern(
        "global_grouping",
        "grouping",
        r"global grouping can't reference a metric",
        "`group by` for all metrics takes attributes only: write `group by host.name`, without "
        "$metric before it.",
        "global grouping can't reference a metric",
    ),
    _pattern(
        "alias",
        "syntax",
        r"alias is required",
        "Give the expression a name: `sum($requests) as total`.",
        "alias is required (AS alias)",
    ),
    _pattern(
        "one_column",
        "wrong_shape",
        r"(?:tql|mql): expected (?P<name>[^\n]{1,60}), got (?P<got>[^\n]{1,60})",
        "A single column is expected here, not {got}. Name one attribute or one aggregate.",
        "tql: expected 1 column, got 3",
        "tql: expected *Selector, got *tql.Where",
    ),
    _pattern(
        "number",
        "wrong_argument",
        r"strconv\.\w{1,20}: parsing \\?\"(?P<name>[^\"\\\n]{0,80})",
        "This is not a number: {name}. Ids, limits and times are plain digits; times are RFC 3339 or "
        "milliseconds as the field says.",
        'strconv.ParseInt: parsing "abc": invalid syntax',
        '{"status":400,"code":"strconv_num","message":"strconv.ParseUint: parsing \\"x\\": invalid '
        'syntax"}',
    ),
    _pattern(
        "time",
        "wrong_argument",
        r"parsing time \\?\"(?P<name>[^\"\\\n]{0,80})|invalid duration|time_(?:gte|lt|start|end) (?:is )?(?:required|invalid|missing)|"
        r"parsing \\?\"\\?\"?[^\n]{0,40}as \\?\"2006",
        "The time {name} is not understood. Send time_gte and time_lt as RFC 3339, as "
        "2026-01-31T09:00:00Z.",
        'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
        "time_gte is required",
    ),
    _pattern(
        "json",
        "bad_json",
        r"json_syntax|json_unmarshal|EOF reading HTTP request body|invalid character '[^<\n]{1,20} "
        r"looking for|json: cannot unmarshal (?P<name>[^\n]{1,60})",
        "The body is not the JSON that is expected. Send an object with double-quoted keys, and each "
        "field with its type.",
        '{"status":400,"code":"eof","message":"EOF reading HTTP request body"}',
        '{"status":400,"code":"json_unmarshal","message":"json: cannot unmarshal string into Go '
        'struct field .limit of type int"}',
    ),
    _pattern(
        "uuid",
        "wrong_argument",
        r"invalid UUID (?:length|format)|\"code\":\"uuid\"|invalid (?:trace|span) ?id",
        "The id has the wrong form: a trace id is 32 hex digits, a span id 16. Copy it from a query's "
        "answer.",
        "invalid UUID length: 12",
    ),
    _pattern(
        "parse",
        "syntax",
        r"(?:can't|cannot|unable to|failed to) parse (?P<name>(?:query|part|expr|\\?\")[^\n]{0,80})|"
        r"unexpected token:? ?(?P<token>[^\n<']{1,60})|syntax error",
        "The query does not parse: {name}{token}. Write parts joined by |, as `group by service_name "
        "| count() | where duration > 100ms`; texts stand in double quotes.",
        'can\'t parse "group service_name"',
        "unexpected token: )",
    ),
    _pattern(
        "attribute",
        "unknown_column",
        r"unknown (?:attribute|attr|column|field|function|func|metric|aggregate):? ?\\?\"?(?P<name>[\w.$:-]{1,100})|"
        r"(?:attribute|metric|function) \\?\"?(?P<plain>[\w.$:-]{1,100})\\?\"? (?:not found|does not exist|is not supported)",
        "There is no {name}{plain}. List the attributes or metrics of the project first; names have "
        "underscores (service_name), functions parentheses (count()).",
        'unknown attribute "servce_name"',
        'unsupported: metric "cpu_usge" does not exist',
    ),
)
