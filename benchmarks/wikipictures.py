"""Pictures of the wiki: invented pages, and every state that they can be in."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User

from agents.principals import for_browser
from memory.access import Principal
from wiki import attachments, pages
from wiki.edits import Edit
from wiki.models import WikiPage

if TYPE_CHECKING:
    from playwright.sync_api import Page

GATEWAY = """# Payments gateway

Takes card payments for the shop and hands them to the bank. Owner: [[people/otter team]].
When it is slow, look at [[ops/queues]] first; the bank's side is described in [[banks/first bank]].

## Failover

1. Drain the queue on `pay-gw-01`: new payments wait, none is lost.
2. Move the address `10.0.0.7` to `pay-gw-02`.
3. Watch the error rate for ten minutes[^1].

```sh
gwctl drain pay-gw-01 --wait   # blocks until the queue is empty
gwctl move --address 10.0.0.7 --to pay-gw-02
```

> A failover in the settlement window (22:00 to 22:30) books nothing twice, but reports come late.

## Hosts

| Host | Rack | Role | Memory |
|------|------|------|-------:|
| pay-gw-01 | C | active | 64 GB |
| pay-gw-02 | D | standby | 64 GB |
| pay-log-01 | C | journal | 16 GB |

## Before a change

- [x] The journal is written to both racks
- [x] The bank knows the new address
- [ ] Somebody of the Otter team is awake

## Numbers

Throughput
:   Payments that were accepted in a minute, without retries.

Error rate
:   Refused by us, not by the bank, as a share of all.

```python
def error_rate(refused: int, all_payments: int) -> float:
    \"\"\"Share of payments that we refused.\"\"\"
    return refused / all_payments if all_payments else 0.0
```

### Alerts

The alert *gateway-slow* fires at 2 s for five minutes. Who is called stands in [[ops/on call]].

[^1]: The dashboard counts refusals of the bank too; subtract them.
"""

OTHERS = {
    "ops/queues": "# Queues\n\nEvery queue drains to the journal. See [[ops/payments gateway]].",
    "ops/on-call": "# On call\n\nWeek by week. Friday noon is the change of hands.",
    "ops/runbooks/night": "# What to do at night\n\nCall first, restart later.",
    "ops/runbooks/certificates": "# Certificates\n\nRenewed every March.",
    "ops/runbooks/backups": "# Backups\n\nNightly, tried out monthly.",
    "people/otter-team": "# Otter team\n\nOwns [[ops/payments gateway]] and billing.",
    "people/owl-team": "# Owl team\n\nWatches at night.",
    "data/orders": "# Orders, column by column\n\n| column | meaning |\n|--|--|\n| id | number |",
    "data/revenue": "# What revenue means\n\nAfter refunds, before tax.",
    "手順/障害対応": "# 障害対応\n\n支払いゲートウェイの証明書は毎年三月に更新する。",
    "home": "# Home\n\nStart with [[ops/payments gateway]].",
}


def fill(name: str) -> None:
    """Write the pages as this administrator, as a colleague and as an agent."""
    person = for_browser(User.objects.get(username=name))
    agent = Principal(name="claude", gateway=True, run_kind="cron", key="abcd")
    early = GATEWAY.replace("10.0.0.7", "10.0.0.5").replace("ten minutes", "five minutes")
    _save(person, "ops/payments-gateway", early, tags=("payments", "runbook"))
    _save(person, "ops/payments-gateway", early.replace("10.0.0.5", "10.0.0.7"),
          "New address since the move to rack C", ("payments", "runbook"))  # fmt: skip
    for slug, body in OTHERS.items():
        _save(person, slug, body, tags=("runbook",) if "runbooks" in slug else ())
    _save(agent, "ops/payments-gateway", GATEWAY,
          "Ten minutes, as agreed on Tuesday", ("payments", "runbook"))  # fmt: skip
    _save(
        agent, "ops/on-call", OTHERS["ops/on-call"] + "\n\nAna has it this week.", "From the chat"
    )
    _save(agent, "data/refunds", "# Refunds\n\nA refund is booked on the day it is paid.", "New")
    pages.delete(person, "people/owl-team", "The team was dissolved")
    attachments.upload(person, "ops/payments-gateway", "racks.png", [_picture()])
    attachments.upload(person, "ops/payments-gateway", "capacity.csv", [b"host,load\na,1\n"])


def _save(
    principal: Principal, slug: str, body: str, comment: str = "", tags: tuple[str, ...] = ()
) -> None:
    held = WikiPage.objects.filter(slug=slug).first()
    base = held.revision if held else None
    pages.save(principal, slug, Edit("", body, tags, comment, base))


def _picture() -> bytes:
    """A small PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        sum_ = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", sum_)

    rows = b"".join(b"\0" + b"\x5b\x7f\xd8" * 96 for _ in range(64))
    head = struct.pack(">IIBBBBB", 96, 64, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )  # fmt: skip


def paths() -> dict[str, str]:
    """Return the pages with an address of their own."""
    page = "/wiki/p/ops/payments-gateway"
    return {
        "wiki": "/wiki/",
        "wiki-page": page,
        "wiki-old": f"{page}?revision=1",
        "wiki-edit": f"{page}?view=edit",
        "wiki-history": f"{page}?view=history",
        "wiki-diff": f"{page}?view=diff&from=1&to=3",
        "wiki-diff-inline": f"{page}?view=diff&from=1&to=3&mode=inline",
        "wiki-files": f"{page}?view=files",
        "wiki-links": f"{page}?view=links",
        "wiki-missing": "/wiki/p/banks/first-bank",
        "wiki-deleted": "/wiki/p/people/owl-team",
        "wiki-new": "/wiki/new/",
        "wiki-recent": "/wiki/recent/",
        "wiki-review": "/wiki/review/",
        "wiki-search": "/wiki/search/?q=payments+gateway",
        "wiki-nothing": "/wiki/search/?q=xylophone",
        "wiki-move": "/wiki/move/?slug=ops/payments-gateway",
    }


def states(page: Page, address: str, shot: Callable[..., Any], person: Principal) -> None:
    """Take both kinds of conflict; the texts are as they were afterwards."""
    theirs = "# Queues\n\nEvery queue drains to the journal, twice.\n\nMore below.\n"
    for name, mine in (
        ("wiki-conflict", "# Queues\n\nEvery queue drains to the archive.\n"),
        ("wiki-merge", OTHERS["ops/queues"] + "\n\n## Limits\n\n10,000 entries each.\n"),
    ):
        _save(person, "ops/queues", OTHERS["ops/queues"])
        page.goto(f"{address}/wiki/p/ops/queues?view=edit")
        page.fill("#body", mine)
        changed = theirs if name == "wiki-conflict" else "# All queues\n" + OTHERS["ops/queues"][8:]
        _save(person, "ops/queues", changed)
        page.click("button.primary")
        page.wait_for_selector("h1:has-text('Two edits at once')")
        shot(name)
        page.evaluate("localStorage.clear()")
        page.once("dialog", lambda dialog: dialog.accept())
        page.goto(f"{address}/wiki/")
