"""What surrounds every request: ids, limits, headers, failures."""

import asyncio
import json
import logging
import sys
from typing import Any

import pytest
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from goclaw_site import logs, middleware, views
from goclaw_site.asgi import Dispatcher


def test_health_needs_nothing(client: Client):
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok")


@pytest.mark.parametrize(("ok", "status"), [(True, 200), (False, 503)])
def test_readiness_follows_the_report(client, monkeypatch, ok, status):
    monkeypatch.setattr("memory.readiness.report", lambda: {"ok": ok, "worker": "idle"})
    response = client.get("/readyz")
    assert (response.status_code, response.json()["worker"]) == (status, "idle")


def test_broken_report_is_an_answer_too(client, monkeypatch):
    monkeypatch.setattr("memory.readiness.report", lambda: 1 / 0)
    response = client.get("/readyz")
    assert (response.status_code, response.json()["ok"]) == (503, False)


def test_policies_are_strict_outside_the_admin(client):
    strict = client.get("/healthz").headers
    assert "unsafe" not in strict["Content-Security-Policy"]
    assert strict["Referrer-Policy"] == "same-origin"
    assert strict["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in strict["Permissions-Policy"]
    admin = client.get("/admin/nowhere").headers["Content-Security-Policy"]
    assert "script-src 'self' 'unsafe-inline' 'unsafe-eval'" in admin
    docs = client.get("/api/docs/").headers["Content-Security-Policy"]
    assert "script-src 'self' 'unsafe-inline'" in docs
    assert "unsafe-eval" not in docs


def test_request_id_is_kept_or_made(client):
    assert client.get("/healthz", headers={"X-Request-ID": "a-1"}).headers["X-Request-ID"] == "a-1"
    made = client.get("/healthz", headers={"X-Request-ID": "a b\n"}).headers["X-Request-ID"]
    assert made.isalnum()


def test_announced_giant_is_refused_unread():
    request = RequestFactory().post("/api/memory/")
    request.META["CONTENT_LENGTH"] = str(middleware.MAX_BODY_BYTES + 1)
    response = middleware.BodyLimitMiddleware(lambda _: HttpResponse("read"))(request)
    assert response.status_code == 413
    assert json.loads(response.content)["code"] == "too_large"  # type: ignore[attr-defined]


def test_body_of_unknown_length_is_refused_with_words():
    request = RequestFactory().post("/api/memory/", headers={"Transfer-Encoding": "chunked"})
    response = middleware.BodyLimitMiddleware(lambda _: HttpResponse("read"))(request)
    assert response.status_code == 411
    assert "Content-Length" in json.loads(response.content)["detail"]  # type: ignore[attr-defined]


def test_foreign_host_name_is_refused_with_the_remedy(client, caplog):
    response = client.get("/api/memory/", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert "server.allowed_hosts" in response.json()["detail"]
    assert all(entry.exc_info is None for entry in caplog.records if "HTTP_HOST" in entry.message)


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (lambda request: views.bad_request(request, ValueError()), 400, "invalid"),
        (lambda request: views.permission_denied(request, PermissionError()), 403, "refused"),
        (lambda request: views.not_found(request, Http404()), 404, "not_found"),
        (views.server_error, 500, "error"),
        (views.csrf_failure, 403, "refused"),
    ],
)
def test_failures_below_api_are_json(answer, status, code):
    response = answer(RequestFactory().get("/api/nowhere"))
    assert (response.status_code, json.loads(response.content)["code"]) == (status, code)


def test_failed_page_falls_back_to_text(monkeypatch):
    def broken(*args: object, **kwargs: object) -> HttpResponse:
        raise ZeroDivisionError

    monkeypatch.setattr(views.failures, "respond", broken)
    request: HttpRequest = RequestFactory().get("/page")
    response = views.server_error(request)
    assert (response.status_code, response.content[:4]) == (500, b"500 ")


def record(message: str) -> logging.LogRecord:
    return logging.LogRecord("memory", logging.INFO, __file__, 1, message, (), None)


def test_log_line_cannot_be_forged():
    entry = record("first\n2026-01-01 ERROR second")
    logs.RequestIdFilter().filter(entry)
    assert "\n" not in logs.LineFormatter().format(entry)


def test_log_json_has_the_trace():
    try:
        raise ValueError("no")
    except ValueError:
        entry = record("failed")
        entry.exc_info = sys.exc_info()
    data = json.loads(logs.JsonFormatter().format(entry))
    assert (data["level"], data["message"]) == ("INFO", "failed")
    assert "ValueError" in data["trace"]


def test_dispatcher_gives_mounts_their_prefix_only():
    seen: list[str] = []

    def application(name: str) -> Any:
        async def answer(scope, receive, send):
            seen.append(name)

        return answer

    dispatcher = Dispatcher(application("django"), [("/mcp", application("mcp"))], [])
    for path in ("/mcp", "/mcp/x", "/mcpx", "/"):
        asyncio.run(dispatcher({"type": "http", "path": path}, None, None))  # type: ignore[arg-type]
    assert seen == ["mcp", "mcp", "django", "django"]


def test_dispatcher_runs_the_lifespans():
    sent: list[str] = []

    async def receive():
        return {"type": "lifespan.startup"}

    async def send(message):
        sent.append(message["type"])

    dispatcher = Dispatcher(None, [], [])  # type: ignore[arg-type]
    asyncio.run(dispatcher({"type": "lifespan"}, receive, send))  # type: ignore[arg-type]
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
