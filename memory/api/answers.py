"""The shapes of answers that are no rows of a table, for the schema alone."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from memory.models.record import choices
from memory.vocabulary import ALL_KINDS, INDEX_STATES, SCOPES

_SCOPE, _KIND, _STATE = choices(SCOPES), choices(ALL_KINDS), choices(INDEX_STATES)


class ErrorAnswer(serializers.Serializer[Any]):
    """Why a request failed: words for people, a code for programs, the field where one is wrong."""

    detail = serializers.CharField()
    code = serializers.CharField()
    field = serializers.CharField(required=False, allow_null=True)


class WrittenAnswer(serializers.Serializer[Any]):
    """What a write did."""

    id = serializers.UUIDField()
    outcome = serializers.ChoiceField(("created", "existing", "amended"))
    scope = serializers.ChoiceField(_SCOPE)
    kind = serializers.ChoiceField(_KIND)
    index_state = serializers.ChoiceField(_STATE)
    superseded = serializers.ListField(
        child=serializers.UUIDField(), help_text="Records that this write retired."
    )
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="What a person should look at, such as a credential.",
    )
    created_at = serializers.DateTimeField()


class BulkItemAnswer(serializers.Serializer[Any]):
    """What became of one item: the answer to its write, or its error."""

    status = serializers.IntegerField(required=False, help_text="201 new, 200 already there.")
    id = serializers.UUIDField(required=False)
    outcome = serializers.CharField(required=False)
    scope = serializers.CharField(required=False)
    kind = serializers.CharField(required=False)
    index_state = serializers.CharField(required=False)
    superseded = serializers.ListField(child=serializers.UUIDField(), required=False)
    warnings = serializers.ListField(child=serializers.CharField(), required=False)
    created_at = serializers.DateTimeField(required=False)
    error = ErrorAnswer(required=False)


class BulkAnswer(serializers.Serializer[Any]):
    """One result for each item, in order."""

    results = BulkItemAnswer(many=True)


class ExplanationAnswer(serializers.Serializer[Any]):
    """Why a result stands where it does."""

    words = serializers.CharField()
    keyword_rank = serializers.IntegerField(allow_null=True)
    vector_rank = serializers.IntegerField(allow_null=True)
    similarity = serializers.FloatField(allow_null=True)
    matched_terms = serializers.IntegerField()
    query_terms = serializers.IntegerField()
    decay = serializers.FloatField()
    age_days = serializers.FloatField()
    evidence = serializers.CharField()
    confidence = serializers.FloatField(allow_null=True)
    signals = serializers.DictField(help_text="What each list said: numbers, yes or no, or null.")
    weights = serializers.DictField(child=serializers.FloatField())
    sum = serializers.FloatField()


class HitAnswer(serializers.Serializer[Any]):
    """One result; `text` is the chunk that speaks for the record."""

    id = serializers.UUIDField()
    scope = serializers.ChoiceField(_SCOPE)
    kind = serializers.ChoiceField(_KIND)
    domain = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    heading = serializers.CharField()
    text = serializers.CharField()
    snippet = serializers.CharField(help_text="HTML: the terms stand in <mark>, the rest escaped.")
    score = serializers.FloatField(help_text="0 to 1, higher is better.")
    superseded = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    occurred_at = serializers.DateTimeField(allow_null=True)
    explain = ExplanationAnswer()


class SearchAnswer(serializers.Serializer[Any]):
    """What answers a query, the best first."""

    results = HitAnswer(many=True)
    mode = serializers.ChoiceField(("hybrid", "keyword", "vector"))
    pending = serializers.IntegerField(help_text="Readable records that are not indexed yet.")
    took_ms = serializers.FloatField()
    degraded = serializers.CharField(required=False, help_text="Why it is less than hybrid.")


class StatsAnswer(serializers.Serializer[Any]):
    """Counts over what the caller may see; `engine` is for administrators."""

    records = serializers.IntegerField()
    by_scope = serializers.DictField(child=serializers.IntegerField())
    by_kind = serializers.DictField(child=serializers.IntegerField())
    by_tag = serializers.DictField(child=serializers.IntegerField())
    by_state = serializers.DictField(child=serializers.IntegerField())
    pending = serializers.IntegerField(help_text="Neither indexed nor failed.")
    failed = serializers.IntegerField()
    superseded = serializers.IntegerField()
    chunks = serializers.IntegerField()
    embedded = serializers.IntegerField()
    embedded_share = serializers.FloatField()
    model = serializers.CharField(allow_null=True)
    provider = serializers.CharField()
    embeddings_off = serializers.CharField(help_text="Why there are no vectors, or empty.")
    index_lag_seconds = serializers.FloatField(required=False)
    engine = serializers.DictField(required=False)


class CatalogAnswer(serializers.Serializer[Any]):
    """Agents' notes and configuration as one document."""

    format = serializers.CharField(help_text="goclaw-catalog")
    version = serializers.IntegerField()
    records = serializers.ListField(child=serializers.DictField())


class CatalogRowAnswer(serializers.Serializer[Any]):
    """What became of one row."""

    row = serializers.IntegerField(help_text="Counted from 1.")
    outcome = serializers.ChoiceField(("created", "unchanged", "conflicting", "bad"))
    id = serializers.UUIDField(allow_null=True, help_text="The record here.")
    reason = serializers.CharField()


class ImportedAnswer(serializers.Serializer[Any]):
    """What an import did; nothing is written while a row is bad, unless `skip_bad` is given."""

    written = serializers.BooleanField()
    dry_run = serializers.BooleanField()
    created = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    conflicting = serializers.IntegerField()
    bad = serializers.IntegerField()
    superseded = serializers.IntegerField()
    results = CatalogRowAnswer(many=True)


class StartedAnswer(serializers.Serializer[Any]):
    """The job that was started."""

    job = serializers.UUIDField()


def answers(wanted: dict[Any, Any]) -> dict[Any, Any]:
    """Return what an operation answers, its failures included."""
    wrong = OpenApiResponse(
        OpenApiTypes.OBJECT, "`detail` and `code`, or a list of reasons for each wrong field."
    )
    return {**wanted, 400: wrong, "default": ErrorAnswer}
