"""What several database systems, and the tools in front of them, say alike."""

from agents.hints.types import DATABASES, Pattern


def _pattern(
    name: str,
    category: str,
    regex: str,
    hint: str,
    *examples: str,
    families: tuple[str, ...] = DATABASES,
) -> Pattern:
    return Pattern(f"sql_{name}", families, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "ambiguous",
        "ambiguous",
        r"column reference (?P<name>\"[^\"\n]{1,130}\") is ambiguous|column '(?P<mysql>[^'\n]{1,130})' "
        r"in [\w ]{1,40} is ambiguous|ambiguous column name: (?P<sqlite>[^\s,;]{1,130})|"
        r"ambiguous identifier '(?P<other>[^'\n]{1,130})'",
        "Several tables have a column {name}{mysql}{sqlite}{other}: write the table or its alias "
        "before it.",
        'column reference "id" is ambiguous\nLINE 1: SELECT id FROM users u JOIN orders o',
        "ERROR 1052 (23000): Column 'id' in field list is ambiguous",
        "ambiguous column name: id",
    ),
    _pattern(
        "one_row",
        "wrong_shape",
        r"more than one row returned by a subquery|subquery returns? more than 1 row|"
        r"scalar subquery returned more than one row",
        "The subquery gives several rows where one value is needed: use IN, an aggregate, or LIMIT 1 "
        "with ORDER BY.",
        "more than one row returned by a subquery used as an expression",
        "ERROR 1242 (21000): Subquery returns more than 1 row",
    ),
    _pattern(
        "division",
        "wrong_value",
        r"division by zero|divide by zero",
        "A divisor is 0: write NULLIF(divisor, 0).",
        "division by zero",
    ),
    _pattern(
        "only_select",
        "read_only",
        r"only (?:SELECT|read-only|one) (?:statements?|queries)[^\n]{0,30} (?:are|is) allowed",
        "This tool runs one reading statement. Write a single SELECT.",
        "Only SELECT statements are allowed",
    ),
    _pattern(
        "datasource",
        "unknown_datasource",
        r"(?:unknown|no such|there is no) datasource:? ?[\"']?(?P<name>[\w.-]{0,80})|datasource "
        r"[\"']?(?P<plain>[\w.-]{1,80})[\"']? (?:not found|does not exist|is not configured)",
        "There is no datasource {name}{plain}. Use one of the names in the list of configured "
        "sources.",
        "There is no datasource 'shp'.",
        "datasource 'shp' is not configured",
    ),
)
