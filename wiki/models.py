"""The tables of the wiki. Written by `wiki.pages`, `wiki.review` and `wiki.attachments` alone."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

HUMAN = "human"
AGENT = "agent"
SYNC = "sync"
AUTHOR_KINDS = (HUMAN, AGENT, SYNC)
MAX_TITLE = 200
MAX_COMMENT = 500


class WikiPage(models.Model):
    """The head of one slug: what a page, a list and the tree need, in one row.

    `slug_key` is the hash of the slug: slugs of copies are longer than any index takes. `revision`
    is the number of the newest revision, `reviewed` the newest one below which nothing waits for a
    person's eye. `moved_to` makes it a redirect. `html` is that of the newest revision, made by the
    renderer named in `html_version`; empty means it is made when it is next asked for.
    """

    slug = models.CharField(max_length=1000)
    slug_key = models.CharField(max_length=64, unique=True)
    revision = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=MAX_TITLE, default="")
    deleted = models.BooleanField(default=False)
    moved_to = models.CharField(max_length=1000, blank=True, default="")
    author = models.CharField(max_length=150, blank=True, default="")
    author_kind = models.CharField(
        max_length=8, choices=[(kind, kind) for kind in AUTHOR_KINDS], default=HUMAN
    )
    reviewed = models.PositiveIntegerField(default=0)
    waits = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    html_version = models.CharField(max_length=64, blank=True, default="")
    contents = models.JSONField(default=list, blank=True)
    html = models.TextField(blank=True, default="")

    class Meta:
        db_table = "wiki_pages"
        verbose_name = "page"
        ordering = ("-updated_at", "-id")
        indexes = [
            models.Index(fields=["-updated_at", "-id"], name="wiki_pages_newest"),
            models.Index(fields=["waits", "-updated_at"], name="wiki_pages_waiting"),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def name(self) -> str:
        """The last part of the slug."""
        return self.slug.rpartition("/")[2]

    @property
    def live(self) -> bool:
        """Whether there is a text to read: neither deleted nor moved away."""
        return self.revision > 0 and not self.deleted and not self.moved_to


class WikiRevision(models.Model):
    """One save: a whole text. Numbers run 1, 2, 3 … for each page and are never used twice.

    `base_revision` is what the author started from. An agent's revision waits while `reviewed_at`
    is null.
    """

    page = models.ForeignKey(WikiPage, on_delete=models.PROTECT, related_name="revisions")
    slug = models.CharField(max_length=1000)
    revision = models.IntegerField()
    title = models.CharField(max_length=MAX_TITLE, default="")
    tags = models.JSONField(default=list, blank=True)
    author = models.CharField(max_length=150, blank=True, default="")
    author_kind = models.CharField(
        max_length=8, choices=[(kind, kind) for kind in AUTHOR_KINDS], default=HUMAN
    )
    comment = models.CharField(max_length=MAX_COMMENT, blank=True, default="")
    deleted = models.BooleanField(default=False)
    moved_to = models.CharField(max_length=1000, blank=True, default="")
    base_revision = models.IntegerField(null=True, blank=True)
    reviewed_by = models.CharField(max_length=150, blank=True, default="")
    reviewed_at = models.DateTimeField(null=True, blank=True)
    rejected = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    characters = models.PositiveIntegerField(default=0)
    body = models.TextField(blank=True, default="")

    class Meta:
        db_table = "org_wiki_revisions"
        verbose_name = "revision of a page"
        verbose_name_plural = "revisions of pages"
        ordering = ("-created_at", "-id")
        constraints = [
            models.UniqueConstraint(fields=["page", "revision"], name="org_wiki_revisions_once"),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="org_wiki_revisions_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.slug}@{self.revision}"

    @property
    def waits(self) -> bool:
        """Whether an agent wrote it and nobody has looked at it yet."""
        return self.author_kind == AGENT and self.reviewed_at is None


class WikiTag(models.Model):
    """One tag of the newest text of a page."""

    page = models.ForeignKey(WikiPage, on_delete=models.CASCADE, related_name="tags")
    tag = models.CharField(max_length=64)

    class Meta:
        db_table = "wiki_tags"
        constraints = [models.UniqueConstraint(fields=["page", "tag"], name="wiki_tags_once")]
        indexes = [models.Index(fields=["tag", "page"], name="wiki_tags_by_tag")]

    def __str__(self) -> str:
        return self.tag


class WikiLink(models.Model):
    """A link in the newest text of a page; the target may not exist (yet, or any more)."""

    page = models.ForeignKey(WikiPage, on_delete=models.CASCADE, related_name="links")
    target = models.CharField(max_length=1000)
    target_key = models.CharField(max_length=64)

    class Meta:
        db_table = "wiki_links"
        constraints = [
            models.UniqueConstraint(fields=["page", "target_key"], name="wiki_links_once"),
        ]
        indexes = [models.Index(fields=["target_key"], name="wiki_links_by_target")]

    def __str__(self) -> str:
        return self.target


class WikiAttachment(models.Model):
    """A file in the folder `media` of the state directory, under its id.

    It hangs on a slug, not on a page: an image is pasted before its page is saved for the first
    time. `content_key` is the hash of slug and content and holds the same file off twice; null
    after a move brought two equal files together.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.CharField(max_length=1000)
    slug_key = models.CharField(max_length=64, db_index=True)
    content_key = models.CharField(max_length=64, null=True, unique=True)  # noqa: DJ001  see above
    name = models.CharField(max_length=255)
    content_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    uploader = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "wiki_attachments"
        verbose_name = "attachment"
        ordering = ("-created_at", "-id")
        indexes = [models.Index(fields=["-created_at", "-id"], name="wiki_attachments_newest")]

    def __str__(self) -> str:
        return self.name
