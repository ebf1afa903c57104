"""`docs/configuration.md`, written from the declarations of the keys."""

from collections.abc import Iterator
from itertools import groupby

from goclaw_site.config import known_keys
from goclaw_site.configkeys import KeyDoc

_HEAD = """\
# Configuration

<!-- Written by `python manage.py docs_configuration`; edit the sections in goclaw_site. -->

Everything has a default: a file is needed only for what should differ. `config.yaml` stands in
the state directory (`~/.goclaw`, or the folder in `GOCLAW_STATE_DIR`). Sections nest; a dotted key
means the same:

```yaml
server:
  port: 8080
memory.search.min_score: 0.3
```

An environment variable wins over the file: two underscores stand for each dot, and lists are JSON
(`GOCLAW_SERVER__ALLOWED_HOSTS='["memory.example.org"]'`). A key that is not known is an error in
the file, and a warning in the environment. Changes count from the next start.

`${secret:NAME}` in any text is replaced by a secret of the vault, whole or as a part
(`url: postgres://app:${secret:PG_PASSWORD}@db/goclaw`). `goclaw secrets set NAME` asks for it. A
secret that is not there stops the start, with its name; what came from the vault prints as stars.

## Variables that are not keys

| variable | what it does |
|---|---|
| `GOCLAW_STATE_DIR` | The state directory, by default `~/.goclaw`. |
| `GOCLAW_ADMIN_PASSWORD` | Password of the administrator made on the first start. |
| `GOCLAW_API_KEY` | Key for commands that act as an agent. |
| `GOCLAW_VAULT_KEY` | Passphrase of the vault, in place of the file `credentials/vault.key`. |
| `GOCLAW_CONFIG_CHECK` | Set by `make check`: settings are read without a state directory. |
"""

_TABLE = "| key | environment | type | bounds | default | what it does |\n|---|---|---|---|---|---|"


def markdown() -> str:
    """The whole page."""
    parts = [_HEAD]
    for section, keys in groupby(known_keys(), key=lambda doc: doc.section):
        rows = "\n".join(_rows(keys))
        parts.append(f"## {_title(section)}\n\n{_TABLE}\n{rows}\n")
    return "\n".join(parts)


def _title(section: str) -> str:
    return f"`{section}`" if section else "At the top"


def _rows(keys: Iterator[KeyDoc]) -> Iterator[str]:
    for doc in keys:
        cells = (
            f"`{doc.key}`",
            f"`{doc.env}`",
            doc.type.replace("|", "\\|"),
            doc.bounds,
            _default(doc.default),
            doc.description,
        )
        yield "| " + " | ".join(cells) + " |"


def _default(value: object) -> str:
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(str(item) for item in value) + "]`"
    return f"`{value}`"
