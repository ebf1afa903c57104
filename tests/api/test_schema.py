"""The schema is valid and true: requests made from it never fail, answers have its shapes."""

import io

import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, checks
from schemathesis.core.result import Ok

from goclaw_site.wsgi import application


def test_schema_is_valid_and_without_warnings(db):
    out = io.StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)
    assert "openapi: 3.0.3" in out.getvalue()


def test_every_answer_has_a_shape():
    schema = SchemaGenerator().get_schema(public=True)
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                shaped = answer.get("content", {}).get("application/json", {}).get("schema")
                assert shaped or status == "204", (path, method, status)
                assert shaped != {}, (path, method, status)
            assert {"400", "default"} <= set(operation["responses"]), (path, method)


def test_lists_are_described_as_pages():
    schemas = SchemaGenerator().get_schema(public=True)["components"]["schemas"]
    for name in ("PaginatedRecordList", "PaginatedJobList"):
        assert set(schemas[name]["properties"]) == {"next", "previous", "results"}


@pytest.mark.parametrize("path", ["/api/schema", "/api/schema/", "/api/docs", "/api/docs/"])
def test_schema_and_viewer_are_for_callers(ann, nobody, path):
    assert ann.get(path).status_code == 200
    assert nobody.get(path).status_code in (302, 401)
    assert nobody.get(path, headers={"Authorization": "Bearer x"}).status_code == 401


def connected(environ, start_response):
    """A server closes its connections around a request; the test's transaction must stay."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        return application(environ, start_response)
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


DESCRIBED = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(public=True))
DESCRIBED.app = connected
OPERATIONS = {
    found.ok().label: found.ok()
    for found in DESCRIBED.get_all_operations()
    if isinstance(found, Ok)
}
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.mark.parametrize("label", OPERATIONS)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_requests_made_from_the_schema(root, label, mode, data):
    """Right and wrong ones alike: no failure, and every answer is as described."""
    try:
        case = data.draw(OPERATIONS[label].as_strategy(generation_mode=mode))
    except Unsatisfiable:
        return
    memory_id = root.wrote("a zebra stands here")
    if "memory_id" in (case.path_parameters or {}):
        case.path_parameters["memory_id"] = memory_id
    if "attachment_id" in (case.path_parameters or {}):
        case.path_parameters["attachment_id"] = memory_id
    answer = case.call(headers={"Authorization": f"Bearer {root.key}", "Host": "localhost"})
    case.validate_response(answer, checks=CHECKS)
