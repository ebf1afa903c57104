"""`${secret:NAME}` in the configuration, and the command that fills the vault."""

import json
import logging
import subprocess
import sys

import pytest

from goclaw_site.config import get_config, load_config, named_secrets
from goclaw_site.configsecrets import STARS, stars
from goclaw_site.errors import ConfigError
from goclaw_site.logs import JsonFormatter, LineFormatter
from goclaw_site.vault import Vault
from memory import audit
from memory.access import Principal
from tests.commands.running import MANAGE, outside, plain_line

SECRET = "hunter2-of-the-tests"
ADMIN = Principal(name="root", is_admin=True)


@pytest.fixture
def state(tmp_path):
    Vault(tmp_path).set("PG", SECRET)
    return tmp_path


def load(state, text, **env):
    (state / "config.yaml").write_text(text)
    return load_config(state, env)


def test_replaced_in_file_lists_and_environment(state):
    config = load(
        state,
        "database.url: postgres://u:${secret:PG}@h/d\nserver.allowed_hosts: [a, '${secret:PG}']\n",
        GOCLAW_MEMORY__SEARCH__API_KEY="${secret:PG}",
    )
    assert config.database.url.get_secret_value() == f"postgres://u:{SECRET}@h/d"
    assert config.memory.search.api_key.get_secret_value() == SECRET
    assert config.server.allowed_hosts == ("a", SECRET)


def test_other_dollars_stay(state):
    assert load(state, "login.oidc.label: '$ {secret:X} ${HOME} $'").login.oidc.label == (
        "$ {secret:X} ${HOME} $"
    )


def test_missing_secrets_name_key_secret_and_command(state):
    with pytest.raises(ConfigError) as caught:
        load(
            state,
            "memory.search.api_key: ${secret:OPENAI}\n",
            GOCLAW_DATABASE__URL="x${secret:OTHER}",
        )
    said = caught.value.message
    assert "config.yaml: memory.search.api_key: the vault has no secret 'OPENAI'" in said
    assert "goclaw secrets set OPENAI" in said
    assert "GOCLAW_DATABASE__URL: database.url: the vault has no secret 'OTHER'" in said


def test_printed_configuration_shows_stars(state):
    config = load(
        state,
        "database.path: db-${secret:PG}\nlogin.oidc.label: ${secret:PG}\n"
        "server.allowed_hosts: ['${secret:PG}']\n",
    )
    for text in (repr(config), str(config), repr(config.login.oidc), f"{config.server}"):
        assert SECRET not in text
    assert STARS in repr(config.login.oidc)
    assert config.database.path == f"db-{SECRET}"


def test_refusals_of_a_value_show_stars(state):
    with pytest.raises(ConfigError) as caught:
        load(state, "timezone: ${secret:PG}\nserver.trusted_proxies: ['${secret:PG}']\n")
    assert SECRET not in caught.value.message
    assert STARS in caught.value.message


def test_logs_show_stars(state):
    load(state, "database.url: ${secret:PG}\n")
    try:
        raise ValueError(SECRET)
    except ValueError:
        trace = sys.exc_info()
    record = logging.LogRecord("x", 40, "x", 1, "cannot reach %s", (SECRET,), trace)
    for formatter in (LineFormatter(), JsonFormatter()):
        record.exc_text, record.request_id = None, "-"
        assert SECRET not in formatter.format(record)


def test_short_values_do_not_star_ordinary_words(state):
    Vault(state).set("SHORT", "a")
    load(state, "login.oidc.client_id: ${secret:SHORT}\n")
    assert stars("a banana") == "a banana"


def test_named_secrets_need_no_vault(tmp_path):
    (tmp_path / "config.yaml").write_text("memory: {search: {api_key: '${secret:A}${secret:B}'}}")
    assert named_secrets(tmp_path, {}) == {"memory.search.api_key": ["A", "B"]}


def secrets(state, *arguments, given="", **env):
    done = subprocess.run(
        [sys.executable, str(MANAGE), "secrets", *arguments],
        env={"GOCLAW_STATE_DIR": str(state), "PATH": "/usr/bin", **env},
        input=given.encode("utf-8", "surrogateescape"),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
def test_command_puts_lists_and_removes_although_one_is_missing(tmp_path):
    (tmp_path / "config.yaml").write_text("memory.search.api_key: ${secret:KEY}\n")
    refused = outside(tmp_path, "memory", "stats")
    assert "goclaw secrets set KEY" in plain_line(refused)
    status, out, _ = secrets(tmp_path, "list")
    assert status == 0
    assert "KEY" in out
    assert "MISSING" in out
    assert secrets(tmp_path, "set", "KEY", given=SECRET + "\n")[0] == 0
    assert Vault(tmp_path).get("KEY") == SECRET
    status, out, err = secrets(tmp_path, "list", "--json")
    assert json.loads(out)[0]["used_by"] == ["memory.search.api_key"]
    assert SECRET not in out + err
    assert outside(tmp_path, "memory", "stats").status == 0
    status, _, err = secrets(tmp_path, "rm", "KEY")
    assert status == 1
    assert "memory.search.api_key uses it" in err
    assert secrets(tmp_path, "rm", "KEY", "--yes")[0] == 0
    assert secrets(tmp_path, "rm", "KEY", "--yes")[0] == 1


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [("1", "x", "begins with a letter"), ("A", "", "empty"), ("A", "\udcff", "UTF-8"),
     ("A", "x" * 70_000, "65,536")],
)  # fmt: skip
def test_command_refuses_in_one_line(tmp_path, name, given, says):
    status, out, err = secrets(tmp_path, "set", name, given=given)
    assert (status, out) == (1, "")
    assert says in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "credentials" / "secrets.enc").exists()


@pytest.mark.django_db
def test_the_trail_hears_of_it_later(capsys, monkeypatch):
    from django.core.management import call_command

    monkeypatch.setattr("sys.stdin", _Given(SECRET))
    call_command("secrets", "set", "TOLD")
    call_command("secrets", "rm", "TOLD", "--yes")
    audit.tell()
    told = [(event.action, event.subject) for event in audit.events(ADMIN)]
    assert told == [("secret.remove", "secret:TOLD"), ("secret.set", "secret:TOLD")]
    audit.tell()
    assert audit.events(ADMIN).count() == 2
    assert SECRET not in capsys.readouterr().out
    assert get_config()


class _Given:
    """Standard input that is no terminal."""

    def __init__(self, text: str) -> None:
        import io

        self.buffer = io.BytesIO(text.encode())

    def isatty(self) -> bool:
        return False
