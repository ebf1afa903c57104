"""The wiki application."""

from django.apps import AppConfig


class WikiConfig(AppConfig):
    """Pages and their revisions."""

    name = "wiki"
    verbose_name = "Wiki"
