"""Colours for code by class, so that themes and the security policy both hold."""

from __future__ import annotations

from html import escape
from typing import Any

from pygments import highlight as colour
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

#: Characters of one block and of all blocks of a page that are coloured; more stays plain.
BLOCK = 40_000
PAGE = 200_000
#: Some lexers take a long time over one very long line.
LINE = 4_000
_FORMATTER = HtmlFormatter[str](nowrap=True)


class Highlighter:
    """Colours the blocks of one page."""

    def __init__(self) -> None:
        self.left = PAGE

    def fence(self, source: str, language: str, *_args: Any, **_kwargs: Any) -> str:
        """Return a block of code as HTML; the signature is that of a fence of superfences."""
        lexer = self._lexer(source, language)
        if lexer is None:
            return _block(escape(source), language)
        self.left -= len(source)
        return _block(colour(source, lexer, _FORMATTER), language)

    def _lexer(self, source: str, language: str) -> Lexer | None:
        if not language or len(source) > min(BLOCK, self.left):
            return None
        if any(len(line) > LINE for line in source.splitlines()):
            return None
        try:
            return get_lexer_by_name(language[:40])
        except ClassNotFound:
            return None


def _block(inner: str, language: str) -> str:
    # The language is shown in the corner; as an attribute it is text and nothing else.
    title = f' title="{escape(language[:40])}"' if language else ""
    return f'<div class="highlight"{title}><pre><code>{inner}</code></pre></div>'
