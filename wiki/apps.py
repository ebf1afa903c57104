"""The wiki application."""

from django.apps import AppConfig


class WikiConfig(AppConfig):
    """Pages and their revisions."""

    name = "wiki"
    verbose_name = "Wiki"

    def ready(self) -> None:
        """Add the wiki's job and its rules to those of the memory, which knows no wiki."""
        from memory import jobs
        from wiki import checking, distill

        jobs.STEPS[distill.JOB] = distill.step
        checking.register()
