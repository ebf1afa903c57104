"""The template library of the wiki's pages."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from wiki.diffs import Piece

register = template.Library()
_ELEMENTS = {"del": "del", "ins": "ins"}


@register.filter
def pieces(parts: Iterable[Piece]) -> SafeString:
    """Return a line with what went and what came; one filter, as a page has thousands of them."""
    shown = []
    for part in parts:
        text, element = escape(part.text), _ELEMENTS.get(part.kind)
        shown.append(f"<{element}>{text}</{element}>" if element else text)
    return mark_safe("".join(shown))  # noqa: S308  every text was escaped above
