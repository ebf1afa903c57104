"""Sections about the engine, its models and the wiki."""

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from goclaw_site.configbase import Section


class Chunk(Section):
    """How records are cut for the index."""

    size: int = Field(1600, ge=200, le=8000, description="Characters of a chunk, at most.")
    overlap: int = Field(
        320, ge=0, le=3999, description="Characters two chunks share; under half of the size."
    )

    @model_validator(mode="after")
    def _overlap_leaves_progress(self) -> Self:
        if self.overlap * 2 >= self.size:
            raise ValueError(
                f"overlap ({self.overlap}) must be less than half of size ({self.size})"
            )
        return self


class Search(Section):
    """Embedding provider and ranking."""

    provider: Literal["local", "fastembed", "openai", "none"] = Field(
        "local",
        description="Who makes the vectors: the bundled model, fastembed, a server that speaks "
        "OpenAI's protocol, or nobody (keyword search only).",
    )
    model: str | None = Field(
        None, min_length=1, description="Model name; empty means the provider's default."
    )
    dimensions: int | None = Field(
        None, ge=1, le=8192, description="Length of the vectors; empty means the model's own."
    )
    base_url: str | None = Field(
        None, pattern=r"^https?://[^\s]+$", description="Address of the provider's server."
    )
    api_key: SecretStr | None = Field(None, description="Key of the provider.")
    timeout_seconds: float = Field(
        30.0, gt=0, le=600, description="Seconds to wait for an answer of the provider."
    )
    batch_size: int = Field(32, ge=1, le=512, description="Texts sent to the provider at once.")
    min_score: float = Field(
        0.35, ge=0, le=1, description="Hits with a lower fused score are left out."
    )
    max_results: int = Field(6, ge=1, le=100, description="Hits of a search that names no number.")
    depth: int = Field(60, ge=1, le=1000, description="Candidates taken from each list.")
    rrf_k: float = Field(10.0, gt=0, le=1000, description="Constant of the reciprocal rank fusion.")
    keyword_weight: float = Field(1.0, ge=0, le=10, description="Weight of the keyword list.")
    vector_weight: float = Field(1.0, ge=0, le=10, description="Weight of the vector list.")
    neighbour_weight: float = Field(
        1.0, ge=0, le=10, description="Weight of the lists over neighbours of the same source."
    )
    half_life_days: float = Field(
        90.0, gt=0, le=36500, description="Days after which the temporal decay has halved a score."
    )
    decay_floor: float = Field(
        0.4, ge=0, le=1, description="Share of a score that decay always leaves."
    )
    min_similarity: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Least cosine that counts as evidence; negative turns the check off, empty "
        "means the model's measured value.",
    )
    gate_similarity: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Least cosine of the best hit for any answer at all; negative turns the gate "
        "off, empty means the model's measured value.",
    )


class WriteAccess(Section):
    """Who may write shared memory."""

    enabled: bool = Field(True, description="Whether the two lists below count.")
    roles: tuple[str, ...] = Field(
        ("admin",), description="Groups whose members may write shared memory."
    )
    users: tuple[str, ...] = Field((), description="People who may write shared memory.")


class Memory(Section):
    """The memory engine."""

    chunk: Chunk = Chunk()
    search: Search = Search()
    write_access: WriteAccess = WriteAccess()
    max_content_chars: int = Field(
        200_000, ge=1000, le=2_000_000, description="Longest record, in characters."
    )


class ChatModel(Section):
    """A chat model at an endpoint."""

    provider: Literal["anthropic", "openai", "gemini", "ollama", "none"] | None = Field(
        None,
        description="Who serves the model: Anthropic, OpenAI or any server that speaks its "
        "protocol, Google Gemini, Ollama; none turns it off, empty leaves the choice to the page "
        "Models.",
    )
    model: str = Field("", max_length=120, description="Name of the model at the provider.")
    base_url: str = Field(
        "",
        pattern=r"^(https?://[^\s@]+)?$",
        description="Address of the API; empty means the provider's own.",
    )
    api_key: SecretStr | None = Field(None, description="Key of the provider.")
    timeout_seconds: float = Field(
        50.0,
        gt=0,
        le=600,
        description="Seconds for an answer, with the tries after a busy or failing one.",
    )
    max_tokens: int = Field(
        4096, ge=64, le=200_000, description="Longest answer where a caller names no length."
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.provider not in (None, "none") and not self.model:
            raise ValueError(f"provider is {self.provider}, so model is needed too")
        if self.provider is None and (self.model or self.base_url or self.api_key):
            raise ValueError("provider is needed beside model, base_url and api_key")
        return self


class Gemini(Section):
    """Google Gemini for background work."""

    api_key: SecretStr | None = Field(
        None, description="Key of Gemini; with it background work uses Gemini by default."
    )
    model: str = Field(
        "gemini-flash-latest", min_length=1, max_length=120, description="Name of the model."
    )


class Ai(Section):
    """Chat models: one that agents talk with, a cheaper one for background work."""

    agent: ChatModel = ChatModel()
    background: ChatModel = ChatModel()
    gemini: Gemini = Gemini()


class Wiki(Section):
    """The wiki."""

    editors: Literal["everyone", "role"] = Field(
        "everyone",
        description="Who edits in the browser: everyone with a login, or administrators and "
        "members of the group `editor`.",
    )
    max_attachment_mb: int = Field(
        25, ge=1, le=10_000, description="Largest file on a page, in MiB."
    )
