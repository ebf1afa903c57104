"""What a stored page gets when it is shown: marks on links to nowhere, the server's own path."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import unquote

from wiki.rendering.links import PAGES

_OTHERS = r'((?: (?!href=)[a-z-]+="[^"]*")*)'
_PAGE = re.compile(rf'<a{_OTHERS} href="/wiki/p/([^"#?]*)[^"]*"{_OTHERS}')
_LOCAL = re.compile(r'(href|src)="/(?=wiki/p/|media/)')


def dress(html: str, missing: Collection[str] = (), base: str = "") -> str:
    """Return rendered HTML for this moment.

    `missing` holds the slugs without a page: links to them say so and open the editor. `base` is
    the path that a proxy takes away, such as `/memory`.
    """
    if missing:
        html = _PAGE.sub(lambda match: _marked(match, missing), html)
    return _LOCAL.sub(rf'\1="{base}/', html) if base else html


def _marked(match: re.Match[str], missing: Collection[str]) -> str:
    before, path, after = match.groups()
    if unquote(path) not in missing:
        return match.group()
    others = (before + after).replace(' class="wiki-link"', "")
    title = "" if " title=" in others else ' title="No such page yet: write it"'
    return f'<a{others} class="wiki-link missing"{title} href="{PAGES}{path}?view=edit"'
