"""Exit codes and plain messages of the command line."""

import pytest

from goclaw_site import cli
from goclaw_site.errors import ConfigError


def test_help_lists_our_commands_first(capsys):
    assert cli.main(["goclaw", "--help"]) == 0
    assert "  up " in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"], ["up", "--no-such-option"], ["secrets"], ["secrets", "set"],
        ["secrets", "rm"], ["secrets", "list", "--no-such-option"], ["secrets", "no-such-part"],
    ],
)  # fmt: skip
def test_usage_errors_exit_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["goclaw", *arguments])
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ConfigError("The folder is full."), 1, "goclaw: The folder is full.\n"),
        (ValueError("odd"), 1, "goclaw: unexpected ValueError: odd."),
        (KeyboardInterrupt(), 130, ""),
        (EOFError(), 1, "goclaw: the question was not answered"),
    ],
)
def test_failures_are_plain_lines(monkeypatch, capsys, error, code, says):
    def fail(argv):
        raise error

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main(["goclaw", "up"]) == code
    assert capsys.readouterr().err.startswith(says)
