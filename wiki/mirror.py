"""Each page as a record of scope `wiki`, so that the one search finds it."""

from __future__ import annotations

from collections.abc import Iterator

from goclaw_site.config import get_config
from memory import write
from memory.access import Principal
from memory.credentials import CREDENTIAL
from memory.drafts import Changes, Draft, Source
from memory.models import Memory
from memory.vocabulary import CRITICAL, ENGINE_TAGS, WIKI
from wiki.models import WikiPage, WikiRevision

SOURCE = "wiki"
KIND = "page"
#: Tags that mean something to the memory and are plain words here.
_NOT_MIRRORED = frozenset({CRITICAL, *ENGINE_TAGS})


def follow(page: WikiPage, revision: WikiRevision) -> None:
    """Make the records of a page say what its newest revision says; none where it is gone."""
    held = {position: memory for memory, position in records_of(page)}
    parts = list(split(page, revision)) if page.live else []
    for position, content in enumerate(parts):
        memory = held.pop(position, None)
        draft = _draft(page, revision, content, position, len(parts))
        if memory is None:
            write.remember(_server(revision), draft)
        else:
            _amend(memory, revision, draft)
    for memory in held.values():
        write.forget(_server(revision), memory.pk)


def records_of(page: WikiPage) -> list[tuple[Memory, int]]:
    """Return the records of a page with their positions."""
    found = Memory.objects.filter(
        scope=WIKI, sources__kind=SOURCE, sources__source_id=str(page.pk)
    ).prefetch_related("sources")
    return [(memory, memory.sources.all()[0].position) for memory in found]


def split(page: WikiPage, revision: WikiRevision) -> Iterator[str]:
    """Yield the contents of the page's records: title and slug first, so that no two are equal."""
    limit = get_config().memory.max_content_chars - 1_300
    pieces = list(_pieces(revision.body.strip(), limit))
    for number, piece in enumerate(pieces, 1):
        part = f" ({number} of {len(pieces)})" if len(pieces) > 1 else ""
        yield f"# {revision.title}\n\n{page.slug}{part}\n\n{piece}".rstrip()


def _pieces(text: str, limit: int) -> Iterator[str]:
    while len(text) > limit:
        cut = max(text.rfind("\n\n", limit // 2, limit), 0) or text.rfind("\n", limit // 2, limit)
        cut = cut if cut > 0 else limit
        yield text[:cut]
        text = text[cut:].lstrip("\n")
    yield text


def _draft(
    page: WikiPage, revision: WikiRevision, content: str, position: int, parts: int
) -> Draft:
    return Draft(
        content=content,
        scope=WIKI,
        kind=KIND,
        tags=tuple(tag for tag in revision.tags if tag not in _NOT_MIRRORED),
        metadata={
            "slug": page.slug,
            "revision": revision.revision,
            "title": revision.title,
            "part": position + 1,
            "parts": parts,
        },
        source=Source(SOURCE, str(page.pk), position),
        index_prefix=revision.title,
    )


def _amend(memory: Memory, revision: WikiRevision, draft: Draft) -> None:
    """Change the record in place: unchanged parts of a page keep their vectors."""
    flagged = (CREDENTIAL,) if CREDENTIAL in memory.tag_names else ()
    changes = Changes(
        content=draft.content,
        tags=tuple(dict.fromkeys((*draft.tags, *flagged))),
        metadata=draft.metadata,
        index_prefix=draft.index_prefix,
        recorded=False,
    )
    write.amend(_server(revision), memory.pk, changes)


def _server(revision: WikiRevision) -> Principal:
    """The server, in the name of the author."""
    return Principal(name=revision.author, system=True, door="wiki")
