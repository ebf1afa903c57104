"""The form that sets a chat model: what is typed, checked and tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.http import QueryDict

from goclaw_site.errors import ConfigError, GoclawError, InvalidInput
from memory.providers import failures, trials
from memory.providers.chat import choosing, saved
from memory.providers.chat.choices import KINDS, Choice
from memory.providers.trials import Trial

_LONGEST = {"model": 120, "base_url": 300, "key": 400}
FIELDS = ("kind", "model", "base_url", "key")
#: The field that can mend a failure of this kind.
_FIELD_OF = {
    failures.UNREACHABLE: "base_url",
    failures.SLOW: "base_url",
    failures.REDIRECTED: "base_url",
    failures.ADDRESS: "base_url",
    failures.NONSENSE: "base_url",
    failures.KEY: "key",
    failures.CREDIT: "key",
    failures.MISSING: "model",
}
_ADVICE = {
    failures.UNREACHABLE: "Check the address, and whether this server may reach it.",
    failures.ADDRESS: "Many addresses end in /v1.",
    failures.NONSENSE: "Check the address and the provider: this does not speak its protocol.",
    failures.KEY: "Copy it again from the provider.",
    failures.MISSING: "Copy its name from the provider's list of models.",
}


@dataclass(frozen=True)
class ModelForm:
    """What stands in the form. A key that is kept already is never in it."""

    kind: str = ""
    model: str = ""
    base_url: str = ""
    key: str = field(default="", repr=False)
    has_key: bool = False
    problems: Mapping[str, str] = field(default_factory=dict)
    trial: Trial | None = None

    def failed(self, error: GoclawError) -> ModelForm:
        """Return the form with the problem at its field; what was typed stays, but for the key."""
        name = error.field if error.field in FIELDS else "form"
        return replace(self, key="", problems={name or "form": error.message})

    def tried(self, trial: Trial) -> ModelForm:
        """Return the form with what a trial brought; a failure stands at the field it is about."""
        advice = _ADVICE.get(trial.kind, "")
        name = _FIELD_OF.get(trial.kind, "form")
        problems = {} if trial.ok else {name: f"{trial.words} {advice}".strip()}
        return replace(self, key="", problems=problems, trial=trial)


def posted(values: QueryDict, role: str) -> ModelForm:
    """Return the form as it was sent."""
    kind, model, base_url, key = (values.get(name, "").strip() for name in FIELDS)
    return ModelForm(kind, model, base_url, key, has_key=_kept_key(role))


def filled(role: str) -> ModelForm:
    """Return the form with what is kept now."""
    kept = saved.read(role)
    if kept is None:
        return ModelForm()
    own = kept.base_url != KINDS[kept.kind].base_url
    address = kept.base_url if own else ""
    return ModelForm(kept.kind, kept.model, address, has_key=bool(kept.secret))


def choice_of(form: ModelForm, role: str) -> Choice:
    """Return what the form says. Raise InvalidInput that names the field."""
    if form.kind not in KINDS:
        raise InvalidInput("Choose a provider.", field="kind")
    for name, longest in _LONGEST.items():
        if len(getattr(form, name)) > longest:
            raise InvalidInput(f"This has {longest} characters at most.", field=name)
    if not form.model or not form.model.isprintable():
        raise InvalidInput("Name the model as the provider calls it.", field="model")
    address = form.base_url or KINDS[form.kind].base_url
    _check_address(address)
    key = form.key or _key_for(role, form.kind, address)
    if KINDS[form.kind].needs_key and not key:
        raise InvalidInput(f"{KINDS[form.kind].label} answers nobody without a key.", field="key")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput("A key is letters, digits and signs without spaces.", field="key")
    return Choice(form.kind, form.model, address, key)


def attempt(choice: Choice, role: str) -> Trial:
    """Try what is typed, with a client of its own."""
    return trials.model(choosing.fresh(choice), role)


def _check_address(address: str) -> None:
    wrong = InvalidInput(
        "An address begins with http:// or https:// and holds no name, password, question mark "
        "or number sign.",
        field="base_url",
    )
    try:
        parts = urlsplit(address)
        port_known = parts.port is None or parts.port > 0
    except ValueError:
        raise wrong from None
    plain = not (parts.query or parts.fragment or "@" in parts.netloc or " " in address)
    if parts.scheme not in ("http", "https") or not parts.hostname or not (plain and port_known):
        raise wrong
    if not address.isascii() or not address.isprintable():
        raise wrong
    if _link_local(parts.hostname):
        raise InvalidInput("No model is served from a link-local address.", field="base_url")


def _link_local(hostname: str) -> bool:
    """Whether it is where clouds tell machines their secrets."""
    try:
        return ip_address(hostname).is_link_local
    except ValueError:
        return False


def _key_for(role: str, kind: str, address: str) -> str:
    """Return the kept key for the address it was kept for: no other ever gets it."""
    kept = saved.read(role)
    if kept is None or (kept.kind, kept.base_url) != (kind, address):
        return ""
    try:
        return saved.choice_of(kept).key
    except ConfigError:
        return ""


def _kept_key(role: str) -> bool:
    kept = saved.read(role)
    return kept is not None and bool(kept.secret)
