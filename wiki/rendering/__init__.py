"""Markdown to HTML that is safe to show: pure, bounded, the same for page, preview and API.

`render` depends on the text alone, so what it returns can be stored and cached. What depends on
the wiki of the moment (pages that do not exist, a path the server stands under) is added by
`dress` whenever a page is shown.
"""

from wiki.rendering.dressing import dress
from wiki.rendering.page import VERSION, Heading, Rendered, render

__all__ = ["VERSION", "Heading", "Rendered", "dress", "render"]
