"""The known messages, by what speaks: databases, servers, products."""

from agents.hints.patterns import (
    clickhouse,
    gitlab,
    http,
    mcp,
    messages,
    mysql,
    postgres,
    sonarqube,
    sql,
    sqlite,
    unfixable,
    uptrace,
    zabbix,
)

#: In order: the first that matches gives the advice, so the special stands before the general.
SPECIAL = (
    *postgres.PATTERNS,
    *mysql.PATTERNS,
    *sqlite.PATTERNS,
    *clickhouse.PATTERNS,
    *sql.PATTERNS,
    *uptrace.PATTERNS,
    *gitlab.PATTERNS,
    *sonarqube.PATTERNS,
    *zabbix.PATTERNS,
    *mcp.PATTERNS,
    *messages.PATTERNS,
)
GENERAL = (
    *gitlab.GENERAL,
    *zabbix.GENERAL,
    *mcp.GENERAL,
    *messages.GENERAL,
    *http.PATTERNS,
)
LOGIN_PAGES = unfixable.LOGIN_PAGES
UNFIXABLE = unfixable.PATTERNS

__all__ = ["GENERAL", "LOGIN_PAGES", "SPECIAL", "UNFIXABLE"]
