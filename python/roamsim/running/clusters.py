"""Clusters of Dask that make runs: of this machine's processes, or existing ones by the address of their scheduler.

A worker that dies costs its parcel, which another one makes again; that counts as no failure of the runs. A scheduler
that dies ends the call, with what was finished kept.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from warnings import warn

from roamsim.errors import Notice, UsageError
from roamsim.running.engines import WorkerLost

if TYPE_CHECKING:
    import distributed
    from distributed.security import Security

#: Seconds in which a scheduler has to answer (chosen: who waits longer takes it for broken).
ANSWER_S = 20

#: Seconds after which a cluster is asked anew how many work for it (chosen: batch systems start them over minutes).
COUNT_EVERY_S = 2.0


@contextmanager
def cluster(where: str | None, jobs: int | None = None) -> Iterator[Executor | None]:
    """Those who make runs, while the context lasts. They are begun, or joined, when the first run is to be made.

    Args:
        where: `dask` for processes of this machine, which nobody else can reach; `tcp://HOST:PORT` or
            `tls://HOST:PORT` for the scheduler of a cluster, with the certificates of Dask's own configuration;
            `None` for nobody, which means threads.
        jobs: how many processes `dask` starts; one for each processor unless given.

    Raises:
        UsageError: Dask is not installed, or `where` is neither.
    """
    if where is None:
        yield None
        return
    if where != "dask" and not _is_address(where):
        raise UsageError(
            f"--on takes `dask`, for processes of this machine, or the address of a scheduler, as tcp://HOST:PORT or "
            f"tls://HOST:PORT; this is {where!r}"
        )
    # Without cryptography there are no credentials for a cluster of this machine.
    if find_spec("distributed") is None or (where == "dask" and find_spec("cryptography") is None):
        raise UsageError("--on needs Dask; this installs it: pip install 'roamsim[dask]'")
    with ExitStack() as open_things:
        yield _OnDask(where, jobs, open_things)


def _is_address(where: str) -> bool:
    try:
        parts = urlsplit(where)
        return parts.scheme in ("tcp", "tls") and bool(parts.hostname) and parts.port is not None
    except ValueError:
        return False


def _joined(where: str, jobs: int | None, open_things: ExitStack) -> distributed.Client:
    """A client of the cluster there.

    Raises:
        UsageError: no scheduler answers.
    """
    import dask
    import distributed

    # What becomes of workers and schedulers is told by the runs that they make. Of a scheduler that is gone nobody
    # can take a parcel back, and the callback that asks for it fails.
    for name in ("distributed", "tornado", "concurrent.futures", *logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado", "concurrent.futures")):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    open_things.enter_context(dask.config.set({"distributed.comm.timeouts.connect": f"{ANSWER_S}s"}))
    if where == "dask":
        from roamsim.running.local_cluster import local_cluster

        many = jobs or os.cpu_count() or 1
        where, security = local_cluster(many, COUNT_EVERY_S, open_things)
    else:
        security = _configured(where)
    try:
        client: distributed.Client = open_things.enter_context(
            distributed.Client(where, security=security, timeout=f"{ANSWER_S}s", set_as_default=False)
        )
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"no scheduler answers at {where}: {error}") from None
    if not client.ncores():
        warn(f"the scheduler at {where} has no worker yet; runs begin when one comes", Notice, stacklevel=2)
    return client


def _configured(where: str) -> Security:
    """The certificates that Dask's configuration names.

    Raises:
        UsageError: the address wants certificates, and there are none, or they cannot be read.
    """
    from distributed.security import Security

    security = Security()
    try:
        certified = security.get_connection_args("client")["ssl_context"] is not None
    except (OSError, ValueError) as error:
        raise UsageError(f"the certificates in Dask's configuration cannot be read: {error}") from None
    if where.startswith("tls:") and not certified:
        raise UsageError(
            f"{where} wants a certificate, and Dask's configuration names none; set distributed.comm.tls.ca-file, "
            "distributed.comm.tls.client.cert and distributed.comm.tls.client.key there"
        )
    return security


class _OnDask(Executor):
    """A cluster of Dask as an executor."""

    def __init__(self, where: str, jobs: int | None, open_things: ExitStack) -> None:
        self._join: Callable[[], distributed.Client] = lambda: _joined(where, jobs, open_things)
        self._client: distributed.Client | None = None
        self._workers, self._counted_s = 0, 0.0

    @property
    def client(self) -> distributed.Client:
        """Its client."""
        if self._client is None:
            self._client = self._join()
        return self._client

    @property
    def workers(self) -> int:
        """How many runs it makes at a time, by now."""
        if time.monotonic() - self._counted_s > COUNT_EVERY_S:
            # Of a scheduler that is gone its futures tell.
            with suppress(OSError):
                self._workers = sum(self.client.ncores().values())
            self._counted_s = time.monotonic()
        return self._workers

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """As of `concurrent.futures.Executor`."""
        return self.submit_to(None, fn, arguments, named)

    def elsewhere(self, future: Future[Any]) -> Executor:
        """As of `roamsim.running.engines.Choosing`."""
        return _Without(self, future.worker) if isinstance(future, _There) else self

    def submit_to(self, workers: list[str] | None, fn: Callable[..., Any], arguments: Any, named: Any) -> Future[Any]:
        """As `submit`; by one of these workers, as long as they are there."""
        from distributed import KilledWorker

        future = _There()

        def ended(there: distributed.Future[Any]) -> None:
            if future.cancelled():
                return
            try:
                future.worker, result = there.result()
                future.set_result(result)
            except KilledWorker as error:
                # Dask gives a task up whose workers died more often than its own `allowed-failures`.
                future.set_exception(WorkerLost(str(error)))
            except BaseException as error:
                # Of a scheduler that is gone: its futures are cancelled.
                future.set_exception(error if isinstance(error, Exception) else ConnectionError(str(error)))

        there = self.client.submit(
            _make, fn, arguments, named, pure=False, workers=workers or None, allow_other_workers=bool(workers)
        )
        future.add_done_callback(lambda own: there.cancel() if own.cancelled() else None)
        there.add_done_callback(ended)
        return future


class _There(Future[Any]):
    """What a worker of Dask makes, and that worker's address once it has."""

    worker = ""


class _Without(Executor):
    """A cluster of Dask without one of its workers, while it has others."""

    def __init__(self, whole: _OnDask, without: str) -> None:
        self._whole, self._without = whole, without

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """As of `concurrent.futures.Executor`."""
        others = [worker for worker in self._whole.client.ncores() if worker != self._without]
        return self._whole.submit_to(others, fn, arguments, named)


def _make(fn: Callable[..., Any], arguments: Any, named: Any) -> tuple[str, Any]:
    """In a worker: its address, and what is made."""
    from distributed import get_worker

    return get_worker().address, fn(*arguments, **named)
