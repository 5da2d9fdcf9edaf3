"""Clusters of Dask that make runs: of this machine's processes, or existing ones by the address of their scheduler.

A worker that dies costs its parcel, which another one makes again; that counts as no failure of the runs. A scheduler
that dies ends the call, with what was finished kept.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from roamsim.errors import UsageError

if TYPE_CHECKING:
    import distributed

#: Seconds in which a scheduler has to answer (chosen: who waits longer takes it for broken).
ANSWER_S = 20

#: How often a parcel is made again whose worker died (chosen: a parcel that takes its workers with it each time is at
#: fault itself).
AGAIN = 10


@contextmanager
def cluster(where: str | None, jobs: int | None = None) -> Iterator[Executor | None]:
    """Those who make runs, while the context lasts.

    Args:
        where: `dask` for as many processes of this machine as `jobs` says, all processors unless given; `tcp://HOST:PORT`
            or `tls://HOST:PORT` for the scheduler of a cluster, with the certificates of Dask's own configuration;
            `None` for nobody, which means threads.
        jobs: as above.

    Raises:
        UsageError: Dask is not installed, no scheduler answers there, or `where` is neither.
    """
    if where is None:
        yield None
        return
    if where != "dask" and not _is_address(where):
        raise UsageError(
            f"--on takes `dask`, for processes of this machine, or the address of a scheduler, as tcp://HOST:PORT or "
            f"tls://HOST:PORT; this is {where!r}"
        )
    try:
        import dask
        import distributed
    except ImportError:
        raise UsageError("--on needs Dask; this installs it: pip install 'roamsim[dask]'") from None
    # What becomes of workers and schedulers is told by the runs that they make.
    for name in ("distributed", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    wait = {"distributed.comm.timeouts.connect": f"{ANSWER_S}s"}
    with ExitStack() as open_things, dask.config.set(wait):
        if where == "dask":
            many = jobs or os.cpu_count() or 1
            local = distributed.LocalCluster(
                n_workers=many, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
            where = open_things.enter_context(local).scheduler_address
        try:
            client = open_things.enter_context(
                distributed.Client(where, timeout=f"{ANSWER_S}s", set_as_default=False)
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(f"no scheduler answers at {where}: {error}") from None
        yield _OnDask(client)


def _is_address(where: str) -> bool:
    try:
        parts = urlsplit(where)
        return parts.scheme in ("tcp", "tls") and bool(parts.hostname) and parts.port is not None
    except ValueError:
        return False


class _OnDask(Executor):
    """A client of Dask as an executor; what a dead worker leaves undone is done again."""

    def __init__(self, client: distributed.Client) -> None:
        self.client = client
        #: How many runs it makes at a time.
        self.workers = sum(client.ncores().values())

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """As of `concurrent.futures.Executor`."""
        future: Future[Any] = Future()
        self._try(future, fn, arguments, named, AGAIN)
        return future

    def _try(self, future: Future[Any], fn: Callable[..., Any], arguments: Any, named: Any, left: int) -> None:
        from distributed import KilledWorker

        def ended(there: distributed.Future[Any]) -> None:
            if future.cancelled():
                return
            try:
                future.set_result(there.result())
            except KilledWorker as error:
                if left:
                    self._try(future, fn, arguments, named, left - 1)
                else:
                    future.set_exception(error)
            except BaseException as error:
                # Of a scheduler that is gone: its futures are cancelled.
                future.set_exception(error if isinstance(error, Exception) else ConnectionError(str(error)))

        there = self.client.submit(fn, *arguments, **named, pure=False)
        future.add_done_callback(lambda own: there.cancel() if own.cancelled() else None)
        there.add_done_callback(ended)
