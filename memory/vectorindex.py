"""The job `vector_index`: an index over one model's vectors, where the database can use one."""

from __future__ import annotations

from memory import providers
from memory.models import Job
from memory.search import backends

KIND = "vector_index"


def wanted() -> str:
    """Return the serving model where its vectors are many and have no index; else nothing."""
    provider = providers.current()
    model = provider.model if provider else ""
    return model if model and backends.current().wants_index(model) else ""


def step(job: Job, deadline: float) -> bool:
    """Build until the deadline; the database goes on meanwhile. Return whether it is finished."""
    progress = backends.current().build_index(str(job.params["model"]), deadline)
    job.done, job.total = progress.done, progress.total
    Job.objects.filter(pk=job.pk).update(done=job.done, total=job.total)
    return progress.finished
