"""`providers check`: whether the configured providers answer."""

from __future__ import annotations

from dataclasses import asdict

from memory.access import require_administrator
from memory.commands.base import Call, Subcommand
from memory.providers import trials
from memory.providers.trials import Trial


def check(call: Call) -> int:
    """Try each with a tiny call. 1 where a configured one fails. Raise Refused."""
    require_administrator(call.principal)
    found = trials.everything()
    if call.as_json:
        call.answer([asdict(trial) for trial in found])
    for trial in found:
        call.say(line(trial))
    return 0 if all(trial.ok for trial in found) else 1


def line(trial: Trial) -> str:
    """Return one trial as one line."""
    state = ("ok" if trial.ok else "failed") if trial.configured else "off"
    served = " ".join(part for part in (trial.provider, trial.model) if part)
    spent = f" ({trial.milliseconds:,} ms)" if trial.milliseconds else ""
    return f"{trial.part:<11} {state:<7} {f'{served}: ' if served else ''}{trial.words}{spent}"


SUBCOMMANDS = (Subcommand("check", "try each configured provider with a tiny call", check),)
