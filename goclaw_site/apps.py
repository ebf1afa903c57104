"""The project as an application: it brings the `up` command and the documentation commands."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """No models of its own."""

    name = "goclaw_site"
    verbose_name = "GoClaw Memory"
