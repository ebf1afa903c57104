"""A PostgreSQL that cannot serve is refused before any work, in words that say what to do."""

import pytest
from django import db
from django.db import connections

from goclaw_site import postgres
from goclaw_site.errors import ConfigError
from tests import databases
from tests.goclaw_site.running import free_port

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(databases.chosen() != "postgres", reason="asks a PostgreSQL"),
]


@pytest.fixture
def server():
    """Runs statements that no transaction may hold; what it made is gone afterwards."""
    made = connections.create_connection("default")
    with made.cursor() as cursor:
        yield cursor.execute
        for name in ("refused",):
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute("DROP ROLE IF EXISTS weak")
    made.close()


@pytest.fixture
def verify(monkeypatch):
    """`verify(NAME="x")` asks with other settings, and returns what is said."""
    opened = []

    def ask(**changed) -> str:
        other = connections.create_connection("default")
        other.settings_dict = {**db.connection.settings_dict, **changed}
        opened.append(other)
        with monkeypatch.context() as patch:
            patch.setattr(db, "connection", other)
            try:
                postgres.verify()
            except ConfigError as error:
                return error.message
            return ""

    yield ask
    for other in opened:
        other.close()


def test_a_good_server_is_taken(verify):
    assert verify() == ""


def test_a_wrong_password_is_not_quoted(verify):
    said = verify(PASSWORD="not-the-one")
    assert "password or the user is wrong" in said
    assert "not-the-one" not in said


def test_nobody_there(verify):
    said = verify(HOST="127.0.0.1", PORT=str(free_port()))
    assert "Nothing listens there" in said


def test_no_such_database(verify):
    said = verify(NAME="nowhere")
    assert "CREATE DATABASE nowhere" in said


def test_another_encoding(server, verify):
    server("CREATE DATABASE refused TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'"
           " LOCALE_PROVIDER libc")  # fmt: skip
    said = verify(NAME="refused")
    assert "SQL_ASCII" in said
    assert "ENCODING 'UTF8'" in said


def test_the_extension_needs_an_administrator(server, verify):
    server("CREATE ROLE weak LOGIN PASSWORD 'weak'")
    server("CREATE DATABASE refused OWNER weak TEMPLATE template0")
    said = verify(NAME="refused", USER="weak", PASSWORD="weak")
    assert "CREATE EXTENSION vector;" in said


def test_no_right_to_make_tables(server, verify):
    server("CREATE ROLE weak LOGIN PASSWORD 'weak'")
    server("CREATE DATABASE refused TEMPLATE template0")
    said = verify(NAME="refused", USER="weak", PASSWORD="weak")
    assert "ALTER DATABASE refused OWNER TO weak" in said
