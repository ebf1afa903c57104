"""PostgreSQL. Messages come with HINT and LINE below them."""

from agents.hints.types import DATABASES, Pattern

_FAMILIES = (*DATABASES, "uptrace_query")
_MEANT = r"(?:.{0,600}?perhaps you meant to reference the (?:column|table)[^\"]{0,30}\"(?P<meant>[^\"]{1,130})\")?"


def _pattern(
    name: str, category: str, regex: str, hint: str, *examples: str, names: str = ""
) -> Pattern:
    return Pattern(f"postgres_{name}", _FAMILIES, category, regex, examples, hint, names=names)


PATTERNS = (
    _pattern(
        "column",
        "unknown_column",
        r"column (?P<name>\"[^\"]{1,130}\"|[\w.$]{1,130}) (?:of relation \S{1,130} )?does not exist"
        + _MEANT,
        "There is no column {name}. {near} Read the table's columns (db_analyze, or "
        "information_schema.columns) and use the exact name; text values stand in single quotes.",
        'column "user_nme" does not exist\nLINE 1: SELECT user_nme FROM users',
        "ERROR:  column u.emial does not exist\nLINE 1: SELECT u.emial FROM users u\nHINT:  Perhaps "
        'you meant to reference the column "u.email".',
        '(psycopg.errors.UndefinedColumn) column "created" does not exist',
        names="column",
    ),
    _pattern(
        "table",
        "unknown_table",
        r"relation (?P<name>\"[^\"]{1,130}\"|[\w.$]{1,130}) does not exist" + _MEANT,
        "There is no table {name}. {near} List the tables (db_analyze, or "
        "information_schema.tables), and write the schema before the name where it is not public.",
        'relation "usres" does not exist\nLINE 1: SELECT * FROM usres',
        'psycopg.errors.UndefinedTable: relation "sales.order" does not exist',
        names="table",
    ),
    _pattern(
        "from_clause",
        "unknown_table",
        r"(?:missing FROM-clause entry for|invalid reference to FROM-clause entry for) table "
        r"(?P<name>\"[^\"]{1,130}\")",
        "{name} is used but not named in FROM, or it has an alias there. Add the JOIN, or use the "
        "alias everywhere.",
        'missing FROM-clause entry for table "o"\nLINE 1: SELECT o.id FROM orders',
        'invalid reference to FROM-clause entry for table "users"\nHINT:  Perhaps you meant to '
        'reference the table alias "u".',
    ),
    _pattern(
        "function",
        "unknown_function",
        r"(?:function|procedure) (?P<name>[\w.\"]{1,130}\([^)]{0,300}\)) (?:does not exist|is not unique)",
        "PostgreSQL has no {name} with these argument types. Use its own function (to_char, "
        "date_trunc, now, coalesce …) or cast the arguments (value::date).",
        "function date_format(timestamp without time zone, unknown) does not exist\nHINT:  No "
        "function matches the given name and argument types.",
        "function ifnull(integer, integer) does not exist",
    ),
    _pattern(
        "operator",
        "wrong_type",
        r"operator (?:does not exist|is not unique): (?P<name>[^\n]{1,150})",
        "The two sides of {name} have different types. Cast one of them, as id::text = '42' or "
        "'42'::integer.",
        "operator does not exist: integer = text\nHINT:  No operator matches the given name and "
        "argument types. You might need to add explicit type casts.",
        "operator does not exist: character varying >= integer",
    ),
    _pattern(
        "grouping",
        "grouping",
        r"column (?P<name>\"[^\"]{1,130}\") must appear in the GROUP BY clause",
        "Add {name} to GROUP BY, or put it into an aggregate such as max({name}).",
        'column "users.name" must appear in the GROUP BY clause or be used in an aggregate function',
    ),
    _pattern(
        "value",
        "wrong_value",
        r"invalid input (?:syntax for type|value for enum) (?P<name>[\w \"]{1,80})(?:: ?(?P<value>\"[^\"\n]{0,200}\"))?",
        "{value} is no {name}. Write the value in that type's form (2026-01-31 for a date, digits "
        "for a number), or compare with another column; for an enum read its labels first.",
        "invalid input syntax for type integer: \"abc\"\nLINE 1: SELECT * FROM t WHERE id = 'abc'",
        'invalid input value for enum order_state: "shiped"',
        'invalid input syntax for type uuid: "42"',
    ),
    _pattern(
        "date",
        "wrong_value",
        r"date/time field value out of range: (?P<name>\"[^\"\n]{0,100}\")",
        "{name} is not on the calendar. Write dates as 2026-01-31, or compute them with interval.",
        'date/time field value out of range: "2024-13-01"\nHINT:  Perhaps you need a different '
        '"datestyle" setting.',
    ),
    _pattern(
        "syntax",
        "syntax",
        r"syntax error at (?:or near (?P<name>\"[^\"\n]{0,200}\")|(?P<end>end of input))",
        "Syntax error: {name}{end}. Look at the word before it: a comma, a "
        "parenthesis, a quote or a keyword is missing or misspelt. Send one statement of "
        "PostgreSQL's SQL.",
        'syntax error at or near "FORM"\nLINE 1: SELECT * FORM users',
        "syntax error at end of input\nLINE 1: SELECT * FROM users WHERE",
    ),
    _pattern(
        "quotes",
        "syntax",
        r"unterminated (?:quoted string|quoted identifier|dollar-quoted string|/\* comment)",
        "A quote is not closed. A quote inside a text is doubled ('it''s'), names stand in double "
        "quotes.",
        "unterminated quoted string at or near \"'abc\"\nLINE 1: SELECT 'abc",
    ),
    _pattern(
        "aggregate",
        "grouping",
        r"(?:aggregate|window) functions? (?:calls? )?(?:are not allowed in|cannot be nested)(?: (?P<name>\w{1,20}))?",
        "Filter on an aggregate with HAVING instead of WHERE, or compute it in a subquery first.",
        "aggregate functions are not allowed in WHERE\nLINE 1: ... WHERE count(*) > 1",
        "aggregate function calls cannot be nested",
        "window functions are not allowed in WHERE",
    ),
    _pattern(
        "read_only",
        "read_only",
        r"cannot execute (?P<name>[\w ]{1,40}) in a read-only transaction",
        "This tool only reads: {name} is not possible. Write a SELECT, or ask a person to make the "
        "change.",
        "cannot execute INSERT in a read-only transaction",
    ),
    _pattern(
        "schema",
        "unknown_schema",
        r"schema (?P<name>\"[^\"]{1,130}\") does not exist",
        "There is no schema {name}. List the schemas (information_schema.schemata) and use one of "
        "them.",
        'schema "reporting" does not exist',
    ),
    _pattern(
        "union",
        "wrong_shape",
        r"each (?P<name>UNION|INTERSECT|EXCEPT) query must have the same number of columns|"
        r"(?:UNION|INTERSECT|EXCEPT) types \S{1,40}[^\n]{0,40} cannot be matched",
        "Both sides of a UNION need the same number of columns with the same types: name the "
        "columns instead of *, and cast where they differ.",
        "each UNION query must have the same number of columns",
        "UNION types integer and text cannot be matched",
    ),
    _pattern(
        "alias",
        "syntax",
        r"subquery in FROM must have an alias",
        "Give the subquery a name: FROM (SELECT …) AS part.",
        "subquery in FROM must have an alias\nHINT:  For example, FROM (SELECT ...) [AS] foo.",
    ),
    _pattern(
        "distinct",
        "syntax",
        r"for SELECT DISTINCT, ORDER BY expressions must appear in select list",
        "Add what you order by to the SELECT list, or leave out DISTINCT and use GROUP BY.",
        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
    ),
    _pattern(
        "statements",
        "syntax",
        r"cannot insert multiple commands into a prepared statement",
        "Send one statement at a time, without a semicolon in between.",
        "cannot insert multiple commands into a prepared statement",
    ),
    _pattern(
        "parameter",
        "wrong_argument",
        r"there is no parameter \$(?P<name>\d{1,4})",
        "The statement uses ${name}, but fewer values were sent. Send a value for each parameter, "
        "or write the value into the statement.",
        "there is no parameter $2\nLINE 1: SELECT * FROM t WHERE a = $2",
    ),
    _pattern(
        "type",
        "wrong_type",
        r"column (?P<name>\"[^\"\n]{1,130}\") is of type [\w ]{1,60} but expression is of type|"
        r"argument of (?P<clause>[A-Z ]{1,20}) must (?:be type \w{1,20}|not return a set)|"
        r"could not (?:identify an (?:equality|ordering) operator for type|determine data type)|"
        r"set-returning functions are not allowed in|LIMIT must not be negative|"
        r"cannot cast type",
        "An expression has the wrong type for its place: {name}{clause}. Cast it (value::integer, "
        "json::text), write a condition in WHERE and JOIN, and call functions that give rows in "
        "FROM.",
        "argument of WHERE must be type boolean, not type integer",
        "could not identify an equality operator for type json",
        'column "x" is of type integer but expression is of type text',
        "set-returning functions are not allowed in WHERE",
    ),
)
