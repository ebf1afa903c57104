"""SQLite."""

from agents.hints.types import DATABASES, Pattern


def _pattern(
    name: str, category: str, regex: str, hint: str, *examples: str, names: str = ""
) -> Pattern:
    return Pattern(f"sqlite_{name}", DATABASES, category, regex, examples, hint, names=names)


PATTERNS = (
    _pattern(
        "column",
        "unknown_column",
        r"no such column: (?P<name>[^\s,;]{1,130})|has no column named (?P<column>[^\s,;]{1,130})",
        "There is no column {name}{column}. {near} Read the table's columns (db_analyze, or PRAGMA "
        "table_info) and use the exact name; text values stand in single quotes.",
        "no such column: user_nme",
        "sqlite3.OperationalError: no such column: o.total",
        names="column",
    ),
    _pattern(
        "table",
        "unknown_table",
        r"no such table: (?P<name>[^\s,;]{1,130})",
        "There is no table {name}. {near} List the tables (db_analyze, or sqlite_master).",
        "no such table: usres",
        "(sqlite3.OperationalError) no such table: sales.orders",
        names="table",
    ),
    _pattern(
        "function",
        "unknown_function",
        r"no such function: (?P<name>\w{1,100})|wrong number of arguments to function (?P<called>\w{1,100})",
        "SQLite has no {name}{called} with these arguments. Use its own functions (strftime, "
        "ifnull, group_concat, substr …).",
        "no such function: DATE_FORMAT",
        "wrong number of arguments to function SUBSTR()",
    ),
    _pattern(
        "syntax",
        "syntax",
        r"near \"(?P<name>[^\"\n]{0,100})\": syntax error|unrecognized token: \"(?P<token>[^\n]{0,60})|"
        r"^\W{0,3}(?:sqlite3\.\w{1,40}: )?incomplete input",
        "Syntax error: {name}{token}. Look at the word before it: a comma, a "
        "parenthesis or a quote is missing, or a keyword is misspelt or not SQLite's.",
        'near "FORM": syntax error',
        'unrecognized token: "@"',
        "incomplete input",
    ),
    _pattern(
        "aggregate",
        "grouping",
        r"misuse of (?:aggregate|window function|aliased aggregate)(?: function)?:? ?(?P<name>[\w()]{0,100})",
        "Filter on the aggregate {name} with HAVING instead of WHERE, or compute it in a subquery "
        "first.",
        "misuse of aggregate: COUNT()",
        "misuse of aliased aggregate n",
    ),
    _pattern(
        "shape",
        "wrong_shape",
        r"sub-select returns \d{1,5} columns|do not have the same number of result columns|"
        r"row value misused",
        "The two sides have different numbers of columns: name the columns instead of *, and give "
        "IN and = a subquery with one column.",
        "sub-select returns 2 columns - expected 1",
        "SELECTs to the left and right of UNION do not have the same number of result columns",
    ),
    _pattern(
        "read_only",
        "read_only",
        r"attempt to write a readonly database",
        "This tool only reads. Write a SELECT, or ask a person to make the change.",
        "attempt to write a readonly database",
    ),
    _pattern(
        "statements",
        "syntax",
        r"you can (?:only )?execute (?:only )?one statement at a time",
        "Send one statement at a time, without a semicolon in between.",
        "You can only execute one statement at a time.",
        "sqlite3.ProgrammingError: You can execute one statement at a time.",
    ),
    _pattern(
        "bindings",
        "wrong_argument",
        r"incorrect number of bindings supplied|did not supply a value for binding",
        "The statement has more or fewer parameters than values were sent: send one for each ? or "
        ":name.",
        "Incorrect number of bindings supplied. The current statement uses 2, and there are 1 "
        "supplied.",
    ),
    _pattern(
        "database",
        "unknown_schema",
        r"unknown database (?P<name>[\w\"]{1,100})",
        "There is no attached database {name}. Leave out the name before the dot, or list them with "
        "PRAGMA database_list.",
        'unknown database "sales"',
    ),
)
