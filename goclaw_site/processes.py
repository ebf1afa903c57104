"""What the children of `up` run: a web server on the inherited socket, or the worker."""

import os
import socket
import sys

from goclaw_site.supervisor import die_with_parent

_GRACE_SECONDS = 8


def run_web(listener: socket.socket) -> None:
    """One uvicorn process; returns after SIGTERM and the last answer."""
    import uvicorn

    config = uvicorn.Config(
        "goclaw_site.asgi:application",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        # agents.addresses reads the proxy's headers; who is at the other end must stay known.
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listener])


def run_worker() -> None:
    """The job queue's cluster; its own processes end with it, even after SIGKILL."""
    from django_q import cluster as queue

    from goclaw_site.sentinel import Sentinel

    os.register_at_fork(after_in_child=die_with_parent)
    # The cluster offers no other way to name the class it starts.
    queue.Sentinel = Sentinel
    cluster = queue.Cluster()
    cluster.start()
    cluster.sentinel.join()
    sys.exit(1 if cluster.sentinel.exitcode else 0)
