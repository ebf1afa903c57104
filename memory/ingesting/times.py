"""Times of conversations: read where they are ISO 8601, and shown for people and the index."""

from datetime import UTC, datetime

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _parsed_time(given: str) -> datetime | None:
    try:
        return datetime.fromisoformat(given.strip())
    except ValueError:
        return None


def instant(given: str) -> datetime | None:
    """ISO 8601 in UTC; a time without a zone is taken as UTC."""
    parsed = _parsed_time(given)
    if parsed is None:
        return None
    try:
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:  # year 1 or 9999 with an offset that leaves the calendar
        return None


def readable(given: str) -> str:
    """The time for people and for the index: ISO 8601 as "8 May 2023, 13:56", others as given."""
    parsed = _parsed_time(given)
    if parsed is None:
        return given
    day = f"{parsed.day} {MONTHS[parsed.month - 1]} {parsed.year}"
    return f"{day}, {parsed:%H:%M}" if len(given) > len("2023-05-08") else day
