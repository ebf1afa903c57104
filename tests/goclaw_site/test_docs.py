"""Generated pages equal what the code would write."""

from django.conf import settings
from django.core.management import call_command

from goclaw_site.configdocs import markdown


def test_configuration_page_is_up_to_date():
    page = settings.ROOT / "docs" / "configuration.md"
    assert page.read_text(encoding="utf-8") == markdown()
    call_command("docs_configuration", check=True)
