"""Shapes that come in and go out."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from agents.models import Agent
from memory.api.serializers import Anything, Text


class AgentSerializer(serializers.ModelSerializer[Agent]):
    """An agent."""

    class Meta:
        model = Agent
        fields = ("slug", "name", "created_at")


class NewAgentSerializer(serializers.Serializer[Any]):
    """An agent to be added."""

    slug = Text(help_text="Lower-case letters, digits, - and _; at most 64.")
    name = Text(default="")


class AnnotationsAnswer(serializers.Serializer[Any]):
    """What a tool does to the world."""

    read_only = serializers.BooleanField()  # type: ignore[assignment]  # the base has one
    destructive = serializers.BooleanField()


class ToolAnswer(serializers.Serializer[Any]):
    """The definition of a tool."""

    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    input_schema = Anything(help_text="JSON Schema of the arguments.")
    annotations = AnnotationsAnswer()


class ToolsAnswer(serializers.Serializer[Any]):
    """Every tool, on one page."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = ToolAnswer(many=True)


class FailureSerializer(serializers.Serializer[Any]):
    """A tool call that failed."""

    tool = Text()
    error = Text()
    schema = Anything(required=False, help_text="Tables with the list of their columns.")


class AdviceAnswer(serializers.Serializer[Any]):
    """What to do about it; `hint` is empty where the agent can do nothing."""

    fixable = serializers.BooleanField()
    hint = serializers.CharField(allow_blank=True)
    category = serializers.CharField()
