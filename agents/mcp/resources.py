"""What can be read by address: records as `memory://<id>`, pages as `wiki://<slug>`."""

from __future__ import annotations

import mcp_types as types

from agents.tools.memories import identifier
from goclaw_site.errors import InvalidInput, NotFound
from memory import queries
from memory.access import Principal
from wiki import queries as wiki
from wiki import slugs

RECORD = "memory://"
PAGE = "wiki://"
_LISTED = 50
_NAME = 80


def newest(principal: Principal) -> types.ListResourcesResult:
    """Return the newest records and pages."""
    return types.ListResourcesResult(resources=[*_records(principal), *_pages(principal)])


def templates() -> types.ListResourceTemplatesResult:
    """Return the two kinds of addresses."""
    record = types.ResourceTemplate(
        name="memory",
        title="A record",
        uri_template=f"{RECORD}{{id}}",
        description="One record of the memory by its id.",
        mime_type="text/plain",
    )
    page = types.ResourceTemplate(
        name="wiki",
        title="A wiki page",
        uri_template=f"{PAGE}{{+slug}}",
        description="One page of the wiki by its slug, as Markdown.",
        mime_type="text/markdown",
    )
    return types.ListResourceTemplatesResult(resource_templates=[record, page])


def read(principal: Principal, uri: str) -> types.ReadResourceResult:
    """Return what stands at an address. Raise NotFound, InvalidInput."""
    if uri.startswith(PAGE):
        return _read_page(principal, uri)
    if not uri.startswith(RECORD):
        raise InvalidInput(f"Resources here are {RECORD}<id> and {PAGE}<slug>.", field="uri")
    record = queries.record(principal, identifier(uri.removeprefix(RECORD).strip("/")))
    text = types.TextResourceContents(uri=uri, mime_type="text/plain", text=record.content)
    return types.ReadResourceResult(contents=[text])


def _read_page(principal: Principal, uri: str) -> types.ReadResourceResult:
    try:
        slug = slugs.decode(uri.removeprefix(PAGE).strip("/"))
    except InvalidInput:
        raise NotFound("No such page.") from None
    page = wiki.live_page(principal, slug)
    body = wiki.revision(principal, page).body
    text = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=body)
    return types.ReadResourceResult(contents=[text])


def _records(principal: Principal) -> list[types.Resource]:
    rows = queries.records(principal).only("pk", "content", "scope", "updated_at")[:_LISTED]
    return [
        types.Resource(
            name=" ".join(row.content[: 4 * _NAME].split())[:_NAME],
            uri=f"{RECORD}{row.pk}",
            description=f"Scope {row.scope}",
            mime_type="text/plain",
        )
        for row in rows
    ]


def _pages(principal: Principal) -> list[types.Resource]:
    return [
        types.Resource(
            name=page.title[:_NAME],
            uri=f"{PAGE}{slugs.encode(page.slug)}",
            description=f"Wiki page {page.slug}",
            mime_type="text/markdown",
        )
        for page in wiki.pages(principal).prefetch_related(None)[:_LISTED]
    ]
