"""Codes and bodies of the exception family."""

from goclaw_site import errors


def test_body_has_detail_and_code_and_what_else_is_known():
    error = errors.InvalidInput("The scope is not known.", field="scope", allowed=["global"])
    assert (error.status, str(error)) == (400, "The scope is not known.")
    assert error.as_dict() == {
        "detail": "The scope is not known.",
        "code": "invalid",
        "field": "scope",
        "allowed": ["global"],
    }


def test_throttled_says_when_to_come_back():
    error = errors.Throttled("Slow down.", retry_after=7)
    assert (error.status, error.retry_after, error.as_dict()["retry_after"]) == (429, 7, 7)


def test_provider_errors_know_whether_to_try_again():
    assert errors.ProviderError("down").transient
    assert not errors.ProviderError("wrong key", transient=False).transient
