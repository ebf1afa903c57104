"""Django as a WSGI application."""

from django.core.wsgi import get_wsgi_application

from goclaw_site.cli import use_settings

use_settings()
application = get_wsgi_application()
