"""A Dask cluster on this machine that only its caller can use.

Whoever reaches a scheduler or a worker of Dask runs code as its user. So everything here listens on the loopback
interface only, by TLS, and takes only peers that show the cluster's own certificate, which is made for one cluster.
No HTTP server runs, which Dask would start on port 8787 even without its dashboard.
"""

from __future__ import annotations

import logging
import tempfile
from contextlib import ExitStack
from typing import Any

from distributed import Nanny, Scheduler, SpecCluster, Worker
from distributed.core import Status
from distributed.security import Security
from tornado.ioloop import PeriodicCallback

#: The only interface that anything of the cluster listens on.
LOOPBACK = "127.0.0.1"


class _QuietScheduler(Scheduler):
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Starts none."""


class QuietWorker(Worker):
    """A worker without an HTTP server. Its process finds it under this name."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Starts none."""


def local_cluster(many: int, look_every_s: float, open_things: ExitStack) -> tuple[str, Security]:
    """Starts a cluster that lasts as long as a context.

    Args:
        many: worker processes, one thread each.
        look_every_s: seconds after which lost workers are replaced.
        open_things: the context.

    Returns:
        The address of its scheduler, and the credentials that a client has to show.
    """
    security = Security.temporary()
    common = {"host": LOOPBACK, "protocol": "tls://", "security": security}
    # Workers unpickle what they have spilled: where they spill to, nobody else may write.
    spilled = open_things.enter_context(tempfile.TemporaryDirectory(prefix="roamsim-", ignore_cleanup_errors=True))
    worker = {
        "cls": Nanny,
        "options": common
        | {
            "nthreads": 1,
            "memory_limit": 1 / many,
            "worker_class": QuietWorker,
            "local_directory": spilled,
            "silence_logs": logging.CRITICAL,
        },
    }
    cluster = SpecCluster(
        workers=dict.fromkeys(range(many), worker),
        worker=worker,
        scheduler={"cls": _QuietScheduler, "options": common | {"port": 0, "dashboard": False}},
        security=security,
        silence_logs=logging.CRITICAL,
    )
    open_things.enter_context(cluster)
    _keep_up(cluster, many, look_every_s)
    return cluster.scheduler_address, security


def _keep_up(cluster: SpecCluster, many: int, look_every_s: float) -> None:
    """Has a cluster replace workers that are lost for good.

    Dask restarts a worker that dies. But it forgets one that failed to start, and one that is not back within
    `distributed.deploy.lost-worker-timeout`: without this, runs would wait for workers forever.
    """

    def look() -> None:
        for name, watching in list(cluster.workers.items()):
            if watching.status in (Status.closed, Status.failed):
                del cluster.workers[name]
        if len(cluster.workers) < many:
            cluster.scale(many)

    watch = PeriodicCallback(look, 1000 * look_every_s)
    cluster.periodic_callbacks["kept-up"] = watch
    cluster.loop.add_callback(watch.start)  # type: ignore[union-attr]  # a cluster that has begun has one
