"""Keys that agents and scripts come with, and whom the channels know people as."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class ApiKey(models.Model):
    """One key. The secret itself is shown once and kept as a hash.

    A personal key acts as its owner; a gateway key has no owner and acts as the organisation.
    """

    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    label = models.CharField(max_length=100, blank=True, default="")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="api_keys"
    )
    gateway = models.BooleanField(default=False)
    read_only = models.BooleanField(default=False)
    made_by = models.CharField(max_length=150, blank=True, default="")
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "api_keys"
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(gateway=True, user__isnull=True)
                | models.Q(gateway=False, user__isnull=False),
                name="api_keys_owner",
            ),
        ]

    def __str__(self) -> str:
        return f"gc_{self.prefix}"

    @property
    def state(self) -> str:
        """One word for people: active, expired or revoked."""
        if self.revoked_at:
            return "revoked"
        expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return "expired" if expired else "active"


class Identity(models.Model):
    """Whom one channel knows a person as: `discord` and a number, a provider and a subject.

    Channel and id are kept exactly as given; `digest` of both is unique on every driver, whatever
    its collation folds. An identity that nobody confirmed gives no rights, only a place to write.
    """

    channel = models.CharField(max_length=200)
    external_id = models.CharField(max_length=500)
    digest = models.CharField(max_length=64, unique=True)
    display_name = models.CharField(max_length=200, blank=True, default="")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities"
    )
    confirmed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "identities"
        verbose_name_plural = "identities"
        ordering = ("-seen_at", "-id")

    def __str__(self) -> str:
        return f"{self.channel}:{self.external_id}"

    @property
    def confirmed(self) -> bool:
        """Whether an administrator, or the provider of a login, says who this is."""
        return self.confirmed_at is not None


class Attempt(models.Model):
    """One wrong key or password, by a hash of what is counted: an address, a name, both."""

    subject = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        db_table = "attempts"
        indexes = [models.Index(fields=["subject", "at"], name="attempts_counted")]

    def __str__(self) -> str:
        return f"{self.subject[:8]} {self.at:%H:%M:%S}"


class KeyUse(models.Model):
    """How many requests a key has made in one minute, over all web processes."""

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    minute = models.BigIntegerField()
    requests = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "api_key_uses"
        constraints = [
            models.UniqueConstraint(fields=["key", "minute"], name="api_key_uses_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key_id} {self.minute}: {self.requests}"


class Agent(models.Model):
    """An agent that works here. Records name it by its slug, so the slug never changes."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "agents"
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name or self.slug
