"""The one exception family: code, HTTP status and a message meant for people."""

from typing import ClassVar

#: For a statement or a connection that the database gave up.
DATABASE_AWAY = (
    "The database does not answer just now. What you sent is not confirmed: send it again in a "
    "moment. The same text, written twice, makes no second record."
)


class GoclawError(Exception):
    """Base of every expected failure; the message is shown to people as it stands."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, field: str | None = None, **extra: object) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.extra: dict[str, object] = extra

    def as_dict(self) -> dict[str, object]:
        """The JSON body of an API error."""
        body: dict[str, object] = {"detail": self.message, "code": self.code}
        if self.field:
            body["field"] = self.field
        return body | self.extra


class InvalidInput(GoclawError):
    """What was sent cannot be used; `field` names the part that is wrong."""

    code = "invalid"
    status = 400


class Unauthorized(GoclawError):
    """Nobody is signed in, or the key is not known."""

    code = "unauthorized"
    status = 401


class Refused(GoclawError):
    """The access policy says no; the message gives the reason."""

    code = "refused"
    status = 403


class NotFound(GoclawError):
    """It does not exist, or the asker may not know that it does."""

    code = "not_found"
    status = 404


class Conflict(GoclawError):
    """It collides with something that is already there."""

    code = "conflict"
    status = 409


class TooLarge(GoclawError):
    """More than the server takes at once."""

    code = "too_large"
    status = 413


class Throttled(GoclawError):
    """Too many requests; `retry_after` is in seconds."""

    code = "throttled"
    status = 429

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, retry_after=retry_after)
        self.retry_after = retry_after


class Unavailable(GoclawError):
    """A part that is needed does not answer just now."""

    code = "unavailable"
    status = 503


class ConfigError(GoclawError):
    """The configuration or the machine does not allow a start."""

    code = "config"
    status = 500


class ProviderError(GoclawError):
    """A model provider failed; `transient` says whether a later try may work."""

    code = "provider"
    status = 502

    def __init__(self, message: str, *, transient: bool = True) -> None:
        super().__init__(message)
        self.transient = transient
