"""Who may edit pages, and as whose edit it counts. Everybody with access reads."""

from __future__ import annotations

from goclaw_site.config import get_config
from goclaw_site.errors import Refused
from memory.access import Principal, administers, require_change
from wiki.models import AGENT, HUMAN

EDITOR = "editor"
#: Runs without a person that are planned by people, not started by outside input.
_PLANNED_RUNS = ("sop", "cron")


def author_kind(principal: Principal) -> str:
    """Return whose edit a save of this caller is: with a key, or as an agent, it is an agent's."""
    by_agent = principal.key or principal.agent or principal.gateway or principal.system
    return AGENT if by_agent or principal.autonomous else HUMAN


def require_write(principal: Principal) -> None:
    """Raise Refused, with the reason and the way out, unless this caller may save pages."""
    require_change(principal)
    reason = _agent_refusal(principal) if author_kind(principal) == AGENT else ""
    if not reason and author_kind(principal) == HUMAN:
        reason = _editor_refusal(principal)
    if reason:
        raise Refused(reason)


def require_editor(principal: Principal) -> None:
    """Raise Refused unless this caller may accept, reject, move, delete and clean up."""
    require_change(principal)
    if administers(principal):
        return
    if author_kind(principal) == AGENT:
        raise Refused("With a key this needs an administrator's.")
    if reason := _editor_refusal(principal):
        raise Refused(reason)


def may_edit(principal: Principal) -> bool:
    """Tell whether a page should offer to edit."""
    return _allows(require_write, principal)


def may_review(principal: Principal) -> bool:
    """Tell whether a page should offer to accept, reject, move and delete."""
    return _allows(require_editor, principal)


def _allows(rule: object, principal: Principal) -> bool:
    try:
        rule(principal)  # type: ignore[operator]
    except Refused:
        return False
    return True


def _agent_refusal(principal: Principal) -> str:
    """Agents write in chats of administrators and in planned runs."""
    if principal.system or administers(principal):
        return ""
    if principal.run_kind in _PLANNED_RUNS:
        return ""
    if principal.autonomous:
        return (
            f"A {principal.run_kind} run works on outside input and never writes pages. "
            "A planned run (sop, cron) or an administrator's chat may."
        )
    return (
        "Agents write pages in an administrator's chat and in planned runs (sop, cron) alone. "
        "A person with a login can write the page in the browser."
    )


def _editor_refusal(principal: Principal) -> str:
    if administers(principal):
        return ""
    if principal.person is None or not principal.known:
        return "Only people with a login edit pages."
    if get_config().wiki.editors == "role" and EDITOR not in principal.roles:
        return f"Editing pages needs the role '{EDITOR}'. An administrator can give it to you."
    return ""
