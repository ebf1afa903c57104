"""Many records at once: what would happen, then the same, one by one."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from goclaw_site.errors import GoclawError, InvalidInput, Refused
from memory import write
from memory.access import Principal, require_write
from memory.drafts import check_tags
from memory.models import Memory
from memory.pages import details, editing, paging
from memory.pages.browsing import opening
from memory.pages.sentences import ScopeWords, scope_words

MOST = 200
ACTIONS = ("tag", "untag", "delete")


@dataclass(frozen=True)
class Selection:
    """What is to be done, and to which records."""

    action: str
    ids: tuple[uuid.UUID, ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effect:
    """What would happen to one record; `skipped` says why nothing would."""

    record: Memory
    says: str
    scope: ScopeWords
    skipped: str = ""


@dataclass(frozen=True)
class Outcome:
    """What was done; `refused` holds one message a record that was left as it is."""

    done: int
    refused: tuple[str, ...] = ()


def read(values: QueryDict) -> Selection:
    """Return the selection that a form posts. Raise InvalidInput."""
    action = values.get("action", "")
    if action not in ACTIONS:
        raise InvalidInput("There is no such action.", field="action")
    try:
        ids = tuple(dict.fromkeys(uuid.UUID(text) for text in values.getlist("ids")))
    except ValueError:
        raise InvalidInput("One of the ids is none.", field="ids") from None
    if not ids:
        raise InvalidInput("Select at least one record first.", field="ids")
    if len(ids) > MOST:
        raise InvalidInput(f"{len(ids)} records; the limit is {MOST}.", field="ids")
    tags = tuple(tag.strip() for tag in values.get("tags", "").split(",") if tag.strip())
    if action != "delete":
        tags = check_tags(tags)
        if not tags:
            raise InvalidInput("Name the tag.", field="tags")
    return Selection(action, ids, tags)


def preview(principal: Principal, selection: Selection) -> Sequence[Effect]:
    """Return what would happen to each record that the caller sees."""
    records = paging.by_ids(principal, selection.ids)
    return [
        Effect(row, opening(row)[:200], scope_words(row.scope), _skip(principal, row, selection))
        for row in records
    ]


def _skip(principal: Principal, record: Memory, selection: Selection) -> str:
    """Return why nothing would happen to the record."""
    if refused := _refusal(principal, record.scope):
        return refused
    if selection.action == "delete":
        allowed = details.may_delete(principal, record)
        return "" if allowed else "Shared records are deleted by administrators only."
    held = set(record.tag_names)
    if selection.action == "tag" and held.issuperset(selection.tags):
        return "It has the tag already."
    if selection.action == "untag" and held.isdisjoint(selection.tags):
        return "It does not have the tag."
    return ""


def _refusal(principal: Principal, scope: str) -> str:
    try:
        require_write(principal, scope)
    except Refused as error:
        return error.message
    return ""


def apply(principal: Principal, selection: Selection) -> Outcome:
    """Do it; a record that cannot be changed stops no other."""
    refused = []
    act = _action(principal, selection)
    for memory_id in selection.ids:
        try:
            act(memory_id)
        except GoclawError as error:
            refused.append(error.message)
    return Outcome(len(selection.ids) - len(refused), tuple(dict.fromkeys(refused)))


def _action(principal: Principal, selection: Selection) -> Callable[[uuid.UUID], object]:
    if selection.action == "delete":
        return lambda memory_id: write.forget(principal, memory_id)
    remove = selection.action == "untag"
    return lambda memory_id: editing.retag(principal, memory_id, selection.tags, remove=remove)
