"""The template library of all pages: icons, times, assets, words."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.pages import sentences
from memory.search import Hit

register = template.Library()

register.filter("plural", sentences.plural)
register.filter("initials", sentences.initials)
register.filter("scope_words", sentences.scope_words)


@register.filter
def grouped(number: int) -> str:
    """Write a number as all pages do, with commas between thousands."""
    return f"{number:,}"


@cache
def _fingerprint(name: str) -> str:
    """Eight characters of the file's hash, so that a new release is never shown with old styles."""
    found = finders.find(name)
    return hashlib.sha256(Path(str(found)).read_bytes()).hexdigest()[:8] if found else "none"


@register.simple_tag
def asset(name: str) -> str:
    """Return the address of a static file; it changes when the file does."""
    return f"{static(name)}?v={_fingerprint(name)}"


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """Draw an icon of the sprite; the words beside it say the same."""
    return format_html(
        '<svg class="icon{}" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        f" {extra}" if extra else "",
        asset("icons.svg"),
        name,
    )


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """Show how long ago it was; the exact time is in the title."""
    if moment is None:
        return ""
    exact = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        exact.strftime("%-d %B %Y, %H:%M %Z"),
        relative(timezone.now() - moment, exact),
    )


def relative(passed: timedelta, exact: datetime) -> str:
    """Return the distance in words; past three months the date says more."""
    seconds = passed.total_seconds()
    if -60 < seconds < 60:
        return "just now"
    if seconds < 0:
        return f"in {sentences.waited(-seconds)}"
    if seconds > 90 * 86_400:
        return exact.strftime("%-d %b %Y")
    return "yesterday" if 86_400 <= seconds < 172_800 else f"{sentences.waited(seconds)} ago"


@dataclass(frozen=True)
class Reason:
    """One line of "why it was found": a share of one and what it means."""

    label: str
    words: str
    value: float


@register.filter
def reasons(hit: Hit) -> list[Reason]:
    """Return what speaks for a result: its words, its meaning, its age."""
    explain = hit.explain
    share = explain.matched_terms / explain.query_terms if explain.query_terms else 0.0
    words = Reason("Words", f"{explain.matched_terms} of {explain.query_terms}", share)
    near = explain.similarity
    shown = f"{near:.2f}, " if near is not None else ""
    meaning = Reason("Meaning", f"{shown}{sentences.similarity_words(near)}", max(near or 0.0, 0.0))
    days = int(explain.age_days)
    age = f"{sentences.plural(days, 'day')} old" if days else "from today"
    fresh = Reason("Freshness", f"{explain.decay:.2f}, {age}", explain.decay)
    return [words, meaning, fresh]
