"""ClickHouse: `Code: N. DB::Exception: … (NAME)`. Uptrace asks it too."""

from agents.hints.types import DATABASES, Pattern

_FAMILIES = (*DATABASES, "uptrace_query")
_MEANT = r"(?:.{0,600}?maybe you meant: (?P<meant>\[[^\]\n]{1,200}\]))?"


def _pattern(
    name: str, category: str, regex: str, hint: str, *examples: str, names: str = ""
) -> Pattern:
    return Pattern(f"clickhouse_{name}", _FAMILIES, category, regex, examples, hint, names=names)


PATTERNS = (
    _pattern(
        "table",
        "unknown_table",
        r"(?:unknown table expression identifier '(?P<name>[^'\n]{1,200})'|"
        r"table (?P<plain>[\w.`]{1,200}) (?:doesn't|does not) exist)" + _MEANT,
        "There is no table {name}{plain}. {near} List the tables (db_analyze, or system.tables) and "
        "write the database before the name.",
        "Code: 60. DB::Exception: Table default.evnts does not exist. (UNKNOWN_TABLE)",
        "Code: 60. DB::Exception: Unknown table expression identifier 'evnts' in scope SELECT * FROM "
        "evnts. Maybe you meant: ['events']. (UNKNOWN_TABLE)",
        names="table",
    ),
    _pattern(
        "column",
        "unknown_column",
        r"(?:missing columns: '(?P<name>[^'\n]{1,200})'|unknown (?:expression(?: or function)? )?"
        r"identifier:? [`'](?P<plain>[^`'\n]{1,200})|there(?:'s| is) no column '(?P<other>[^'\n]{1,200})'|"
        r"identifier '(?P<late>[^'\n]{1,200})' cannot be resolved)" + _MEANT,
        "There is no column {name}{plain}{other}{late}. {near} Read the table's columns (db_analyze, or "
        "DESCRIBE TABLE) and use the exact name; names are case-sensitive.",
        "Code: 47. DB::Exception: Missing columns: 'usr' while processing query: 'SELECT usr FROM "
        "events', required columns: 'usr'. (UNKNOWN_IDENTIFIER)",
        "Code: 47. DB::Exception: Unknown expression identifier 'usr' in scope SELECT usr FROM "
        "events. Maybe you meant: ['user']. (UNKNOWN_IDENTIFIER)",
        "Code: 47. DB::Exception: Unknown expression or function identifier `usr` in scope SELECT usr "
        "FROM events. (UNKNOWN_IDENTIFIER)",
        names="column",
    ),
    _pattern(
        "syntax",
        "syntax",
        r"syntax error(?: \([^)\n]{0,40}\))?: failed at position \d{1,9} (?:\((?P<name>[^)\n]{0,80})\))?",
        "Syntax error: {name}. Look at the word before it; the message lists what "
        "may stand there. Send one statement of ClickHouse's SQL.",
        "Code: 62. DB::Exception: Syntax error: failed at position 10 ('FORM') (line 1, col 10): FORM "
        "events. Expected one of: token, Comma, FROM. (SYNTAX_ERROR)",
    ),
    _pattern(
        "function",
        "unknown_function",
        r"(?:unknown (?:aggregate )?function (?P<name>\w{1,100})|function with name [`'](?P<plain>\w{1,100})"
        r"[`'] does not exist)" + _MEANT,
        "ClickHouse has no function {name}{plain}. {near} Names are case-sensitive: toDate, "
        "formatDateTime, countIf, uniq, quantile.",
        "Code: 46. DB::Exception: Unknown function date_frmat. Maybe you meant: ['date_format']. "
        "(UNKNOWN_FUNCTION)",
        "Code: 46. DB::Exception: Function with name `strftime` does not exist. In scope SELECT "
        "strftime(ts). (UNKNOWN_FUNCTION)",
    ),
    _pattern(
        "grouping",
        "grouping",
        r"column [`'](?P<name>[^`'\n]{1,200})[`'] is not under aggregate function and not in GROUP BY",
        "Add {name} to GROUP BY, or put it into an aggregate such as any({name}).",
        "Code: 215. DB::Exception: Column `id` is not under aggregate function and not in GROUP BY. "
        "(NOT_AN_AGGREGATE)",
    ),
    _pattern(
        "aggregate",
        "grouping",
        r"aggregate function (?P<name>[\w()., `]{1,100}) is found (?:inside another aggregate|in WHERE|in)",
        "An aggregate cannot stand inside another one or in WHERE: compute it in a subquery, or use "
        "HAVING.",
        "Code: 184. DB::Exception: Aggregate function sum(x) is found inside another aggregate "
        "function in query. (ILLEGAL_AGGREGATION)",
        "Code: 184. DB::Exception: Aggregate function count() is found in WHERE in query. "
        "(ILLEGAL_AGGREGATION)",
    ),
    _pattern(
        "type",
        "wrong_type",
        r"no supertype for types (?P<name>[\w, ()]{1,100})|illegal types? (?P<plain>[\w()', ]{1,60}) of "
        r"argument|type mismatch in IN or VALUES|\((?:NO_COMMON_TYPE|TYPE_MISMATCH|ILLEGAL_TYPE_OF_ARGUMENT)\)",
        "The types do not fit: {name}{plain}. Convert with toString, toDateTime, toUInt64 or CAST on "
        "one side.",
        "Code: 386. DB::Exception: There is no supertype for types String, UInt8 because some of them "
        "are String and some of them are not. (NO_COMMON_TYPE)",
        "Code: 43. DB::Exception: Illegal type String of argument of function toStartOfHour. Should "
        "be a date or a date with time. (ILLEGAL_TYPE_OF_ARGUMENT)",
        "Code: 53. DB::Exception: Type mismatch in IN or VALUES section. Expected: UInt64. Got: "
        "String. (TYPE_MISMATCH)",
    ),
    _pattern(
        "arguments",
        "wrong_argument",
        r"number of arguments for function \"?(?P<name>\w{1,100})|NUMBER_OF_ARGUMENTS_DOESNT_MATCH",
        "{name} takes another number of arguments; the message says how many. Look the function up "
        "and call it again.",
        'Code: 42. DB::Exception: Number of arguments for function "toStartOfInterval" doesn\'t '
        "match: passed 1, should be 2 or 3. (NUMBER_OF_ARGUMENTS_DOESNT_MATCH)",
    ),
    _pattern(
        "read_only",
        "read_only",
        r"cannot execute query in readonly mode|\(READONLY\)",
        "This tool only reads, and settings cannot be changed. Write a SELECT without SETTINGS.",
        "Code: 164. DB::Exception: agent: Cannot execute query in readonly mode. (READONLY)",
    ),
    _pattern(
        "database",
        "unknown_schema",
        r"database (?P<name>[\w`]{1,100}) (?:doesn't|does not) exist" + _MEANT,
        "There is no database {name}. {near} List them with SHOW DATABASES.",
        "Code: 81. DB::Exception: Database shp does not exist. Maybe you meant shop?. "
        "(UNKNOWN_DATABASE)",
    ),
    _pattern(
        "value",
        "wrong_value",
        r"DB::Exception: cannot parse (?P<name>[^\n]{1,120})|\(CANNOT_PARSE_\w{1,40}\)",
        "A value has not the form of its type: {name}. Write times as '2026-01-31 09:00:00' or use "
        "parseDateTimeBestEffort.",
        "Code: 6. DB::Exception: Cannot parse string 'abc' as UInt64: syntax error at begin of "
        "string. (CANNOT_PARSE_TEXT)",
        "Code: 41. DB::Exception: Cannot parse datetime 2026-01-31T9. (CANNOT_PARSE_DATETIME)",
    ),
)
