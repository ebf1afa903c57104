"""Django's settings, derived from the typed configuration."""

import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django_stubs_ext
from django.core.management.utils import get_random_secret_key

from goclaw_site import __version__, broker, databases
from goclaw_site.adminlook import unfold_settings
from goclaw_site.config import (
    extra_variable,
    get_config,
    limit_numeric_threads,
    state_dir,
)
from goclaw_site.logs import logging_settings
from goclaw_site.middleware import MAX_BODY_BYTES
from goclaw_site.state import prepare_state_dir, secret_key
from memory.backups.swapping import finish_interrupted

limit_numeric_threads()

# Typed code writes Manager[Record]; Django's own classes cannot be indexed.
django_stubs_ext.monkeypatch()

STATE_DIR = state_dir()
# Before anything is read: a restore that was killed has to end first.
finish_interrupted(STATE_DIR)
CONFIG = get_config()
ROOT = Path(__file__).resolve().parent.parent
# An installed package has no checkout around it: setup.py puts the two folders into this one.
ASSETS = ROOT if (ROOT / "templates").is_dir() else ROOT / "goclaw_assets"

if extra_variable("GOCLAW_CONFIG_CHECK"):
    # Checks and type checking read the settings, and must not make a state directory.
    SECRET_KEY = get_random_secret_key()
else:
    prepare_state_dir(STATE_DIR, allow_network_filesystem=CONFIG.database.allow_network_filesystem)
    SECRET_KEY = secret_key(STATE_DIR)

DEBUG = False
PUBLIC = urlsplit(CONFIG.server.public_url)
ALLOWED_HOSTS = sorted(
    {
        "localhost",
        "127.0.0.1",
        "[::1]",
        socket.gethostname().lower(),
        *CONFIG.server.allowed_hosts,
        *({CONFIG.server.host} - {"0.0.0.0", "::"}),  # noqa: S104 - a comparison
        *([PUBLIC.hostname] if PUBLIC.hostname else []),
    }
)

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "unfold",
    "django.contrib.admin",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "django_q",
    "goclaw_site",
    "memory",
    "wiki",
    "agents",
]

MIDDLEWARE = [
    "goclaw_site.middleware.RequestIdMiddleware",
    "goclaw_site.middleware.BodyLimitMiddleware",
    "goclaw_site.middleware.SecurityHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "agents.proxylogin.ProxyLoginMiddleware",
    "agents.middleware.PrincipalMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "goclaw_site.urls"
WSGI_APPLICATION = "goclaw_site.wsgi.application"
# Every API path answers with and without its slash; redirects would lose bodies.
APPEND_SLASH = False
# The proxy takes the path away before it hands a request over; links get it back.
FORCE_SCRIPT_NAME = CONFIG.server.base_path or None

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memory.pages.shell.shell",
            ],
            "libraries": {"pages": "memory.pages.tags", "wiki": "wiki.browser.tags"},
        },
    },
]

DATABASES = databases.settings_of(CONFIG, STATE_DIR)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

Q_CLUSTER: dict[str, Any] = {
    "name": "goclaw",
    "label": "Job queue",
    **broker.settings_of(CONFIG),
    "workers": CONFIG.worker.processes,
    "retry": CONFIG.queue.retry_seconds,
    # Below `retry`, or a job would be handed out while it still runs.
    "timeout": CONFIG.queue.retry_seconds - 60,
    "max_attempts": 5,
    "ack_failures": False,
    "poll": 0.2,
    # Jobs in memory are jobs that wait although another worker may be free.
    "queue_limit": CONFIG.worker.processes,
    "bulk": 1,
    "catch_up": False,
    "save_limit": 250,
    "time_zone": CONFIG.timezone,
}

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTHENTICATION_BACKENDS = ["agents.backends.PasswordBackend"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "memory"
LOGOUT_REDIRECT_URL = "login"

# Relative, so that it follows the path below which a proxy serves us.
STATIC_URL = "static/"
STATICFILES_DIRS = [ASSETS / "static"] if (ASSETS / "static").is_dir() else []
# Files are served from where they are installed: there is no collectstatic step.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_MAX_AGE = 3600
WHITENOISE_ALLOW_ALL_ORIGINS = False

DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
CSRF_FAILURE_VIEW = "goclaw_site.views.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
# The two are not ours to decide: other hosts below the same domain may lack HTTPS.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

if PUBLIC.scheme:
    CSRF_TRUSTED_ORIGINS = [f"{PUBLIC.scheme}://{PUBLIC.netloc}"]
if CONFIG.server.secure:
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"(^|/)healthz/?$", r"(^|/)readyz/?$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 30 * 24 * 3600

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "agents.authentication.KeyAuthentication",
        "agents.authentication.LoginAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": [
        "rest_framework.renderers.JSONRenderer",
        "rest_framework.renderers.BrowsableAPIRenderer",
    ],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "memory.api.errors.handle",
}

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "GoClaw Memory",
    "DESCRIPTION": "Memory and wiki for agents and the people they work for.",
    "VERSION": __version__,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

LOGGING = logging_settings(CONFIG.log.level, CONFIG.log.json)

UNFOLD: dict[str, Any] = unfold_settings()
