"""The agents application."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    """Who asks, and on whose behalf."""

    name = "agents"
    verbose_name = "Agents"

    def ready(self) -> None:
        """Register what the schema needs to know."""
        from agents import schema  # noqa: F401  registers itself on import
