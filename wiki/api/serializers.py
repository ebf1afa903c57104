"""Shapes that come in and go out; limits stand in `wiki.edits`."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.api.serializers import Text
from wiki.edits import MAX_BODY
from wiki.filetypes import shown
from wiki.models import AUTHOR_KINDS, WikiAttachment, WikiPage, WikiRevision
from wiki.review import DECISIONS

_KINDS = [(kind, kind) for kind in AUTHOR_KINDS]


class SaveSerializer(serializers.Serializer[Any]):
    """A save. `base_revision` is the revision that was edited, null for a new page."""

    title = Text(default="", help_text="Empty: the first heading, or the slug.")
    body = Text(help_text=f"Markdown, up to {MAX_BODY:,} characters.")
    tags = serializers.ListField(child=Text(), default=list)
    comment = Text(default="", help_text="What changed, in a line.")
    base_revision = serializers.IntegerField(default=None, allow_null=True)


class CreateSerializer(SaveSerializer):
    """A new page; without a slug it gets one from its title."""

    slug = Text(default="")
    base_revision = None  # type: ignore[assignment]  # a new page has none


class RestoreSerializer(serializers.Serializer[Any]):
    """Which old text is to be the newest again."""

    slug = Text()
    revision = serializers.IntegerField()
    comment = Text(default="")


class MoveSerializer(serializers.Serializer[Any]):
    """Which page gets which name."""

    slug = Text()
    to = Text()
    comment = Text(default="")


class ReviewSerializer(serializers.Serializer[Any]):
    """What a person decides about an agent's revision and those before it."""

    slug = Text()
    revision = serializers.IntegerField()
    decision = serializers.ChoiceField([(word, word) for word in DECISIONS])


class DistillSerializer(serializers.Serializer[Any]):
    """How to distill."""

    dry_run = serializers.BooleanField(default=False, help_text="Show the pages, save none.")


class HeadSerializer(serializers.ModelSerializer[WikiPage]):
    """A page in a list."""

    tags = serializers.SerializerMethodField()

    class Meta:
        model = WikiPage
        fields = (
            "slug", "title", "revision", "tags", "author", "author_kind", "waits", "deleted",
            "created_at", "updated_at",
        )  # fmt: skip

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_tags(self, page: WikiPage) -> list[str]:
        """The tags of the newest text, in order."""
        return sorted(row.tag for row in page.tags.all())


class SaveRowSerializer(serializers.ModelSerializer[WikiRevision]):
    """A save in a list, without its text."""

    tags = serializers.ListField(child=serializers.CharField())
    waits = serializers.BooleanField()

    class Meta:
        model = WikiRevision
        fields = (
            "slug", "revision", "title", "tags", "author", "author_kind", "comment", "deleted",
            "moved_to", "base_revision", "waits", "reviewed_by", "reviewed_at", "rejected",
            "characters", "created_at",
        )  # fmt: skip


class HeadingAnswer(serializers.Serializer[Any]):
    """A line of the table of contents."""

    level = serializers.IntegerField()
    text = serializers.CharField()
    anchor = serializers.CharField()


class PageAnswer(serializers.Serializer[Any]):
    """A page as one of its revisions has it."""

    slug = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    body = serializers.CharField(allow_blank=True)
    html = serializers.CharField(allow_blank=True, help_text="Sanitized.")
    contents = HeadingAnswer(many=True)
    revision = serializers.IntegerField()
    newest = serializers.IntegerField(help_text="The number of the newest revision.")
    tags = serializers.ListField(child=serializers.CharField())
    author = serializers.CharField(allow_blank=True)
    author_kind = serializers.ChoiceField(_KINDS)
    comment = serializers.CharField(allow_blank=True)
    waits = serializers.BooleanField(help_text="An agent's edit that nobody has reviewed.")
    reviewed = serializers.IntegerField(help_text="The newest reviewed revision; 0: none.")
    moved_from = serializers.CharField(required=False, help_text="The name that was asked for.")
    outcome = serializers.ChoiceField(
        ("created", "saved", "unchanged"), required=False, help_text="What a save did."
    )
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class SidesAnswer(serializers.Serializer[Any]):
    """The same thing in three texts."""

    mine = serializers.JSONField()
    theirs = serializers.JSONField()
    base = serializers.JSONField()


class ConflictAnswer(serializers.Serializer[Any]):
    """Somebody saved in between: all three texts, and a merge where it is clean."""

    detail = serializers.CharField()
    code = serializers.CharField()
    field = serializers.CharField(required=False)
    slug = serializers.CharField(required=False)
    revision = serializers.IntegerField(required=False, help_text="The newest one.")
    base_revision = serializers.IntegerField(required=False, allow_null=True)
    deleted = serializers.BooleanField(required=False)
    moved_to = serializers.CharField(required=False, allow_blank=True)
    mine = serializers.CharField(required=False, allow_blank=True)
    theirs = serializers.CharField(required=False, allow_blank=True)
    base = serializers.CharField(required=False, allow_blank=True)
    merged = serializers.CharField(required=False, allow_null=True, allow_blank=True)
    titles = SidesAnswer(required=False)
    tags = SidesAnswer(required=False)


class PieceAnswer(serializers.Serializer[Any]):
    """A run of text."""

    kind = serializers.CharField(help_text="same, del or ins.")
    text = serializers.CharField(allow_blank=True)


class RowAnswer(serializers.Serializer[Any]):
    """A line of a comparison; a gap stands for `count` unchanged lines."""

    kind = serializers.CharField(help_text="same, changed, removed, added or gap.")
    old = serializers.IntegerField(allow_null=True, help_text="Number of the old line.")
    new = serializers.IntegerField(allow_null=True, help_text="Number of the new line.")
    pieces = PieceAnswer(many=True)
    count = serializers.IntegerField()


class DiffAnswer(serializers.Serializer[Any]):
    """What changed between two revisions of a page."""

    slug = serializers.CharField()
    old = serializers.IntegerField()
    new = serializers.IntegerField()
    same = serializers.BooleanField()
    added = serializers.IntegerField(help_text="Lines.")
    removed = serializers.IntegerField(help_text="Lines.")
    cut = serializers.IntegerField(help_text="Rows that are left out of a very long comparison.")
    titles = serializers.ListField(child=serializers.CharField(), help_text="Old and new.")
    tags = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()), help_text="Old and new."
    )
    rows = RowAnswer(many=True)
    unified = serializers.CharField(allow_blank=True, help_text="In the form of `diff -u`.")


class DecidedAnswer(serializers.Serializer[Any]):
    """What a decision did."""

    slug = serializers.CharField()
    settled = serializers.IntegerField(help_text="Agents' revisions that no longer wait.")
    revision = serializers.IntegerField(help_text="The newest revision now.")
    deleted = serializers.BooleanField()


class FoundAnswer(serializers.Serializer[Any]):
    """One hit; a page that is several records stands once."""

    slug = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    heading = serializers.CharField(allow_blank=True, help_text="The headings above the place.")
    snippet = serializers.CharField(help_text="HTML: the terms stand in <mark>, the rest escaped.")
    score = serializers.FloatField(help_text="0 to 1, higher is better.")
    revision = serializers.IntegerField()
    scope = serializers.CharField(help_text="wiki, or wikijs for a copy of another wiki.")


class WikiSearchAnswer(serializers.Serializer[Any]):
    """The pages that answer a query, the best first."""

    results = FoundAnswer(many=True)
    mode = serializers.ChoiceField(("hybrid", "keyword", "vector"))
    pending = serializers.IntegerField()
    took_ms = serializers.FloatField()
    degraded = serializers.CharField(required=False)


class AttachmentSerializer(serializers.ModelSerializer[WikiAttachment]):
    """A file of a page."""

    url = serializers.SerializerMethodField()
    inline = serializers.SerializerMethodField()

    class Meta:
        model = WikiAttachment
        fields = (
            "id", "url", "slug", "name", "content_type", "inline", "size", "sha256", "uploader",
            "created_at",
        )  # fmt: skip

    def get_url(self, row: WikiAttachment) -> str:
        """Where the file is served."""
        return reverse("media", args=[row.pk])

    def get_inline(self, row: WikiAttachment) -> bool:
        """Whether browsers show it; everything else they download."""
        return shown(row.content_type)


class UploadSerializer(serializers.Serializer[Any]):
    """A file for a page, as multipart/form-data."""

    slug = serializers.CharField()
    file = serializers.FileField()


class TreeAnswer(serializers.Serializer[Any]):
    """A place in the tree; `below` holds places of the same shape."""

    slug = serializers.CharField()
    name = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    exists = serializers.BooleanField()
    below = serializers.ListField(child=serializers.DictField())
