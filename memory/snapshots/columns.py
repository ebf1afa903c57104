"""The columns of a table in a snapshot: read from the database, and from a line of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Field, ManyToManyField, Model, QuerySet, TextField

from goclaw_site.errors import InvalidInput
from memory.access import access_token
from memory.chunks import batches
from memory.fields import stored
from memory.models import EngineState, Memory, MemoryChunk
from memory.snapshots import values
from memory.snapshots.tables import MADE_ANEW, STATE_LEFT_OUT, every, meta, model_of, through
from memory.vocabulary import PERSONAL
from memory.write import content_hash, live_key

#: Rows at a time: few where a row may hold a long text.
_FEW, _MANY = 100, 2000
_MOST_LINKS = 100_000


@dataclass(frozen=True)
class Row:
    """One row: its values by column, and what it is linked to through tables of pairs."""

    values: dict[str, Any]
    links: dict[str, list[Any]]


class Table:
    """One carried table: which columns it has, and how its rows are read and checked."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.model: type[Model] = model_of(label)
        self.columns: list[Field[Any, Any]] = [
            column
            for column in meta(self.model).concrete_fields
            if column.name not in MADE_ANEW.get(label, ())
        ]
        self.links: list[ManyToManyField[Any, Any]] = [
            link for link in meta(self.model).local_many_to_many if _is_pair(link)
        ]

    @property
    def names(self) -> list[str]:
        """The names of a line's values, in order."""
        return [*(column.attname for column in self.columns), *(link.name for link in self.links)]

    def held(self) -> QuerySet[Any]:
        """Return the rows that belong into a snapshot."""
        rows = every(self.model)
        return rows.exclude(pk__in=STATE_LEFT_OUT) if self.model is EngineState else rows

    def lines(self) -> Iterator[list[Any]]:
        """Yield every row as JSON values, by primary key, in bounded memory on every driver."""
        kinds = [values.kind_of(column) for column in self.columns]
        key = self.columns.index(meta(self.model).pk)
        for batch in self._batches(kinds, key):
            linked = [_linked(link, [row[key] for row in batch]) for link in self.links]
            for row in batch:
                plain = [values.encoded(*pair) for pair in zip(kinds, row, strict=True)]
                yield plain + [found.get(row[key], []) for found in linked]

    def _batches(self, kinds: list[str], key: int) -> Iterator[list[Any]]:
        size = _FEW if any(isinstance(column, TextField) for column in self.columns) else _MANY
        rows = self.held().order_by("pk").annotate(**self._vectors(kinds))
        names = [
            f"stored_{column.name}" if kind == values.VECTOR else column.attname
            for column, kind in zip(self.columns, kinds, strict=True)
        ]
        rows = rows.values_list(*names)
        batch = list(rows[:size])
        while batch:
            yield batch
            batch = list(rows.filter(pk__gt=batch[-1][key])[:size])

    def _vectors(self, kinds: list[str]) -> dict[str, Any]:
        pairs = zip(self.columns, kinds, strict=True)
        return {f"stored_{c.name}": stored(c.name) for c, kind in pairs if kind == values.VECTOR}

    def reader(self, names: Any) -> Callable[[list[Any]], Row]:
        """Return what turns a line with these names into a checked row.

        A column that this version has and the line lacks takes its default; a name that this
        version does not know is of a newer one. Raises InvalidInput.
        """
        columns = {column.attname: column for column in self.columns}
        links = {link.name: link for link in self.links}
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidInput(f"{self.label} does not name its columns")
        if unknown := sorted({*names} - {*columns, *links}):
            raise InvalidInput(
                f"{self.label} has a column '{unknown[0][:40]}' that this version does not know: "
                "a newer one wrote it, so upgrade first"
            )
        for name in {*columns} - {*names}:
            if not columns[name].has_default() and not columns[name].null:
                raise InvalidInput(f"{self.label} lacks its column '{name}'")

        def read(line: list[Any]) -> Row:
            if len(line) != len(names):
                raise InvalidInput(f"a row of {self.label} has {len(line)} values")
            given = dict(zip(names, line, strict=True))
            row = Row(
                {n: values.decoded(columns[n], v) for n, v in given.items() if n in columns},
                {n: _checked_links(links[n], v) for n, v in given.items() if n in links},
            )
            _check(self.model, row.values)
            return row

        return read


def _check(model: type[Model], row: dict[str, Any]) -> None:
    if (rule := _RULES.get(model)) is not None:
        rule(row)


def _is_pair(link: ManyToManyField[Any, Any]) -> bool:
    return bool(meta(through(link)).auto_created)


def _linked(link: ManyToManyField[Any, Any], keys: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return what each row is linked to; permissions by their words, their ids are not ours."""
    pairs = every(through(link))
    near, far = link.m2m_field_name(), link.m2m_reverse_field_name()
    found: dict[Any, list[Any]] = {}
    wanted = [f"{near}_id", f"{far}_id"]
    if link.related_model is Permission:
        kind = f"{far}__content_type"
        wanted = [f"{near}_id", f"{far}__codename", f"{kind}__app_label", f"{kind}__model"]
    for batch in batches(keys):
        rows = pairs.filter(**{f"{near}_id__in": batch}).order_by(*wanted)
        for key, *other in rows.values_list(*wanted):
            found.setdefault(key, []).append(other if len(other) > 1 else other[0])
    return found


def _checked_links(link: ManyToManyField[Any, Any], value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MOST_LINKS:
        raise InvalidInput(f"{link.name} is no list")
    if link.related_model is Permission:
        if not all(_is_permission(words) for words in value):
            raise InvalidInput(f"{link.name} names no permission")
        return value
    target = meta(link.related_model).pk
    return [values.decoded(target, key) for key in value]


def _is_permission(words: Any) -> bool:
    return (
        isinstance(words, list)
        and len(words) == 3
        and all(isinstance(word, str) and "\x00" not in word for word in words)
    )


def _check_record(row: dict[str, Any]) -> None:
    """Scope and owner decide who may read it, the hashes hold duplicates off: none may lie."""
    scope, owner = row.get("scope"), row.get("owner_id")
    if (scope == PERSONAL) != (owner is not None):
        raise InvalidInput("a record has an owner and no personal scope, or the reverse")
    access_token(str(scope), owner)
    digest = content_hash(row["content"])
    key = live_key(str(scope), owner, row.get("kind", "note"), digest)
    if row.get("content_hash") != digest or row.get("live_key") not in (None, key):
        raise InvalidInput("a record does not fit its hash")


def _check_chunk(row: dict[str, Any]) -> None:
    vector = row.get("embedding")
    width = 0 if vector is None else values.width_of(vector)
    if row.get("embedding_dim") != width or (vector is None) != (not row.get("embedding_model")):
        raise InvalidInput("a vector does not fit what its chunk says of it")


_RULES: dict[type[Model], Callable[[dict[str, Any]], None]] = {
    Memory: _check_record,
    MemoryChunk: _check_chunk,
}
