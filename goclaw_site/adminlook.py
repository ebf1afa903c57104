"""The look of Django's admin: the same colours as the pages (static/app.css)."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy

#: Shades of the accent, light to dark; 600 and 400 are the pages' accents on light and on dark.
_ACCENT = {
    "50": "#f4f7ff", "100": "#eef2fe", "200": "#c9d6fb", "300": "#a5baff", "400": "#8aa6ff",
    "500": "#4c73e6", "600": "#2f5bd8", "700": "#2449b4", "800": "#1f3d94", "900": "#1e2640",
    "950": "#141a2e",
}  # fmt: skip
#: The greys of backgrounds, lines and text.
_GREYS = {
    "50": "#fbfbfa", "100": "#f5f5f3", "200": "#e7e6e2", "300": "#d2d0ca", "400": "#aaabb0",
    "500": "#6b6a64", "600": "#575651", "700": "#3d4046", "800": "#2a2c30", "900": "#1a1b1e",
    "950": "#131416",
}  # fmt: skip


def unfold_settings() -> dict[str, Any]:
    """Return UNFOLD: names, colours, and a way back to the pages."""
    return {
        "SITE_TITLE": "GoClaw Memory",
        "SITE_HEADER": "GoClaw Memory",
        "SITE_SUBHEADER": "Administration",
        "SITE_URL": reverse_lazy("memory"),
        "SITE_ICON": _favicon,
        "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _favicon}],
        "SHOW_HISTORY": True,
        "SHOW_VIEW_ON_SITE": False,
        "BORDER_RADIUS": "8px",
        "COLORS": {"base": _GREYS, "primary": _ACCENT},
        "SIDEBAR": {"show_search": False, "show_all_applications": False},
    }


def _favicon(request: HttpRequest) -> str:
    return static("favicon.svg")
