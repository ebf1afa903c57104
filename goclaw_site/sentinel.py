"""django-q's guard of the worker processes, with two habits changed."""

import logging
import os
from multiprocessing.process import BaseProcess

from django_q.cluster import Sentinel as QueueSentinel
from django_q.scheduler import scheduler

logger = logging.getLogger(__name__)


class Sentinel(QueueSentinel):  # type: ignore[misc]
    """Schedules run at the start, and a killed process restarts the whole cluster."""

    def guard(self) -> None:
        """Without the first line, nothing that is scheduled runs for half a minute."""
        scheduler(broker=self.broker)
        super().guard()

    def reincarnate(self, process: BaseProcess) -> None:
        """A process that waits for work holds the queue's lock, and dies with it if killed.

        Its successor would wait for that lock for ever, so everything starts with new queues.
        """
        if (process.exitcode or 0) < 0:
            logger.error("A worker process was killed (%s)", process.exitcode)
            os._exit(1)
        super().reincarnate(process)
