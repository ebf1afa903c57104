"""MySQL and MariaDB."""

from agents.hints.types import DATABASES, Pattern


def _pattern(
    name: str, category: str, regex: str, hint: str, *examples: str, names: str = ""
) -> Pattern:
    return Pattern(f"mysql_{name}", DATABASES, category, regex, examples, hint, names=names)


PATTERNS = (
    _pattern(
        "column",
        "unknown_column",
        r"unknown column '(?P<name>[^'\n]{1,200})' in '?(?P<place>[\w ]{1,40})",
        "There is no column {name} in the {place}. {near} Read the table's columns (db_analyze, or "
        "SHOW COLUMNS) and use the exact name; an alias of SELECT is not known in WHERE.",
        "ERROR 1054 (42S22): Unknown column 'usr' in 'field list'",
        "(1054, \"Unknown column 'o.total' in 'where clause'\")",
        "Unknown column 'cnt' in 'WHERE'",
        names="column",
    ),
    _pattern(
        "table",
        "unknown_table",
        r"table '(?P<name>[^'\n]{1,200})' doesn't exist",
        "There is no table {name}. {near} List the tables (db_analyze, or SHOW TABLES); names are "
        "case-sensitive on Linux.",
        "ERROR 1146 (42S02): Table 'shop.usres' doesn't exist",
        names="table",
    ),
    _pattern(
        "alias",
        "unknown_table",
        r"unknown table '(?P<name>[^'\n]{1,200})'|not unique table/alias: '(?P<twice>[^'\n]{1,200})'",
        "{name}{twice} is not a table or alias of this FROM, or it is there twice. Give each table "
        "one alias and use it everywhere.",
        "ERROR 1051 (42S02): Unknown table 'o'",
        "ERROR 1066 (42000): Not unique table/alias: 'users'",
    ),
    _pattern(
        "syntax",
        "syntax",
        r"error in your SQL syntax;.{0,160}?near '(?P<name>[^\n]{0,80}?)(?:' at line|$|\n)",
        "Syntax error: {name}. Look at the word before it; names with spaces or "
        "keywords stand in backticks. Send one statement of MySQL's SQL.",
        "ERROR 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds "
        "to your MySQL server version for the right syntax to use near 'FORM users' at line 1",
        '(1064, "You have an error in your SQL syntax; check the manual that corresponds to your '
        "MariaDB server version for the right syntax to use near '' at line 1\")",
    ),
    _pattern(
        "function",
        "unknown_function",
        r"function (?P<name>[\w.`]{1,130}) does not exist|incorrect (?:parameter count|parameters) in "
        r"the call to native function '(?P<called>[^'\n]{1,100})'",
        "MySQL has no such function or takes other arguments: {name}{called}. Use its own "
        "(DATE_FORMAT, IFNULL, GROUP_CONCAT, CONCAT …).",
        "ERROR 1305 (42000): FUNCTION shop.STRING_AGG does not exist",
        "ERROR 1582 (42000): Incorrect parameter count in the call to native function 'DATE_FORMAT'",
    ),
    _pattern(
        "grouping",
        "grouping",
        r"is not in GROUP BY clause and contains nonaggregated column '(?P<name>[^'\n]{1,200})'|"
        r"'(?P<column>[^'\n]{1,200})' isn't in GROUP BY",
        "Add {name}{column} to GROUP BY, or put it into an aggregate such as MAX() or ANY_VALUE().",
        "ERROR 1055 (42000): Expression #1 of SELECT list is not in GROUP BY clause and contains "
        "nonaggregated column 'shop.o.id' which is not functionally dependent on columns in GROUP BY "
        "clause; this is incompatible with sql_mode=only_full_group_by",
        "ERROR 1055 (42000): 'shop.o.id' isn't in GROUP BY",
    ),
    _pattern(
        "aggregate",
        "grouping",
        r"invalid use of group function",
        "Filter on an aggregate with HAVING instead of WHERE, or compute it in a subquery first.",
        "ERROR 1111 (HY000): Invalid use of group function",
    ),
    _pattern(
        "database",
        "unknown_schema",
        r"unknown database '(?P<name>[^'\n]{1,130})'|no database selected",
        "There is no such database: {name}. Use a name that SHOW DATABASES gives, written before "
        "the table: database.table.",
        "ERROR 1049 (42000): Unknown database 'shp'",
        "ERROR 1046 (3D000): No database selected",
    ),
    _pattern(
        "derived",
        "syntax",
        r"every derived table must have its own alias",
        "Give the subquery a name: FROM (SELECT …) AS part.",
        "ERROR 1248 (42000): Every derived table must have its own alias",
    ),
    _pattern(
        "shape",
        "wrong_shape",
        r"operand should contain \d{1,4} column|used SELECT statements have a different number of "
        r"columns|column count doesn't match",
        "The two sides have different numbers of columns: name the columns instead of *, and give "
        "IN and = a subquery with one column.",
        "ERROR 1241 (21000): Operand should contain 1 column(s)",
        "ERROR 1222 (21000): The used SELECT statements have a different number of columns",
    ),
    _pattern(
        "read_only",
        "read_only",
        r"cannot execute statement in a READ ONLY transaction|running with the --read-only option",
        "This tool only reads. Write a SELECT, or ask a person to make the change.",
        "ERROR 1792 (25006): Cannot execute statement in a READ ONLY transaction.",
        "ERROR 1290 (HY000): The MySQL server is running with the --read-only option so it cannot "
        "execute this statement",
    ),
    _pattern(
        "value",
        "wrong_value",
        r"(?:incorrect|truncated incorrect) (?P<type>\w{1,20})(?: value)?: '(?P<name>[^'\n]{0,120})'",
        "{name} is no {type}. Write the value in that type's form (2026-01-31 for a date, digits "
        "for a number), or compare with another column.",
        "ERROR 1525 (HY000): Incorrect DATETIME value: 'yesterday'",
        "ERROR 1292 (22007): Truncated incorrect DOUBLE value: 'abc'",
    ),
)
