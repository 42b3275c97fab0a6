"""Parts that the workers of a Dask cluster hold.

A part is a future: its rows, or what was made of them, stay on the worker that made them. If that
worker dies, Dask makes them again from the table. Weights go out with the tasks, and sums come back
through a tree of tasks that the number of parts says all about.
"""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

from lessnaive.parts.engine import Kept, Parcel, got
from lessnaive.parts.options import PartOptions
from lessnaive.parts.sharing import evened_out, shared_out
from lessnaive.table.parts import FAN_IN, Held, merged

__all__ = ["Cluster", "ClusterHeld"]

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")

# Seconds between two looks at the cluster while tasks are running.
_LOOK = 0.5
# Seconds between two looks for new workers.
_NEW_WORKERS = 2.0
# Functions of more bytes than this go to the workers once, not with every task.
_LARGE = 50_000
# Seconds after which a scheduler that does not answer counts as gone.
_SILENT = 15.0


class Cluster:
    """A Dask client, and what a fit wants of it.

    Parameters
    ----------
    client : distributed.Client
        The client.
    options : PartOptions
        Patience and progress.
    """

    def __init__(self, client: Any, options: PartOptions) -> None:
        self.client = client
        self._options = options
        self._name = uuid4().hex[:12]
        self._count = 0
        # By their id: all futures that somebody still holds.
        self._futures: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self._workers: set[str] = set()
        self._looked = 0.0
        self._silent_since: float | None = None

    def key(self, what: str) -> str:
        """Return a new name for a task."""
        self._count += 1
        # Dask learns how long tasks take by the words before the first that is none.
        return f"lessnaive-{what}-{self._name}-{self._count}"

    def submit(self, function: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
        """Start a task that returns a parcel, and return its future."""
        key = self.key(_words_of(function))
        future = self.client.submit(function, *arguments, key=key, pure=False, **how)
        return self._noted([future])[0]

    def map(
        self, function: Callable[..., Any], what: Callable[..., Any], *each: Sequence[Any]
    ) -> list[Any]:
        """Start a task for each of several things, and return the futures.

        Parameters
        ----------
        function : callable
            The task.
        what : callable
            Its first argument, which is shipped to the workers.
        *each : sequence
            The other arguments of each task.
        """
        first, n = self.shipped(what), len(each[0])
        keys = [self.key(f"{_words_of(function)}-{_words_of(what)}") for _ in range(n)]
        return self._noted(self.client.map(function, [first] * n, *each, key=keys, pure=False))

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """Start tasks that are written down already, and return the futures."""
        return self._noted(self.client.compute(tasks))

    def _noted(self, futures: Sequence[Any]) -> list[Any]:
        self._futures.update({id(future): future for future in futures})
        return list(futures)

    def shipped(self, function: Callable[..., Any]) -> Any:
        """Return a function, or the future of a large one: workers get it from each other."""
        parcel = Parcel(function)
        return parcel if len(pickle.dumps(parcel)) < _LARGE else self.submit(_itself, parcel)

    def results(
        self, futures: Sequence[Any], what: str, counted: list[Any] | None = None
    ) -> list[Any]:
        """Return the results of tasks when they are done; an error if they never will be.

        Progress counts these tasks, or others if they are given, as :meth:`await_all` does.
        """
        counted = list(futures) if counted is None else counted
        total = len(counted)
        self.await_all(futures, what, counted)
        found = self._gathered(futures)
        self._options.progress(what, total, total)
        return [parcel.content for parcel in found]

    def await_all(
        self, futures: Sequence[Any], what: str, counted: list[Any] | None = None
    ) -> None:
        """Wait until tasks are done; an error if they never will be.

        Parameters
        ----------
        futures : sequence of distributed.Future
            The tasks.
        what : str
            What they are, for progress.
        counted : list of distributed.Future, optional
            The tasks that progress counts, if not these. Those that are done are taken off the
            list, as workers keep the results of futures that somebody holds.
        """
        from distributed import TimeoutError as StillRunning
        from distributed import wait

        counted = list(futures) if counted is None else counted
        alone_since, total = None, len(counted)
        while True:
            try:
                wait(list(futures), timeout=_LOOK)
                break
            except StillRunning:
                counted[:] = [future for future in counted if not future.done()]
                # All of them there will only be with the results.
                self._options.progress(what, total - max(1, len(counted)), total)
            except Exception:
                break  # cancelled: the scheduler is gone, or says what was lost
            workers, now = self._ask("ncores"), time.monotonic()
            if self._is_silent():
                break
            alone_since = None if workers is None or workers else alone_since or now
            if alone_since is not None and now - alone_since > self._options.patience:
                raise ConnectionError(
                    f"The Dask cluster at {self._address()} has had no workers for "
                    f"{self._options.patience:g} seconds: start some, and fit again."
                )
        self._check(futures)

    def _check(self, futures: Sequence[Any]) -> None:
        """Raise ConnectionError if the results of tasks will never come."""
        lost = [future for future in futures if future.status == "cancelled"]
        reason = ""
        if lost:
            try:
                lost[0].result(timeout=1)
            except Exception as error:
                reason = str(error)
        if self._is_silent() or self.client.status != "running" or "scheduler" in reason:
            raise ConnectionError(
                f"The Dask scheduler at {self._address()} is gone, and the fit with it: start it "
                "again, connect a new client, and fit again."
            )
        if lost:
            raise ConnectionError(
                "Parts of the table were lost with a worker, and Dask cannot make them again: it "
                "can if they come from files or functions, but not if they were sent to the "
                f"workers as they are (client.scatter). Dask says: {reason}"
            )

    def _gathered(self, futures: Sequence[Any]) -> list[Any]:
        from distributed import KilledWorker

        try:
            found: list[Any] = self.client.gather(list(futures))
        except KilledWorker as error:
            raise ConnectionError(
                "Several workers died one after the other at the same task, perhaps for want of "
                f"memory: make smaller partitions, or start larger workers. Dask says: {error}"
            ) from None
        return found

    def _ask(self, question: str, **given: Any) -> Any:
        """Return what the scheduler answers, or None if it does not."""
        asked = time.monotonic()
        try:
            if self.client.status != "running" or self._is_silent():
                raise ConnectionError
            call = getattr(self.client.scheduler, question)
            answer = self.client.sync(call, callback_timeout=_SILENT, **given)
        except Exception:
            self._silent_since = self._silent_since or asked
            return None
        self._silent_since = None
        return answer

    def _is_silent(self) -> bool:
        """Whether the scheduler has not answered for so long that it counts as gone."""
        since = self._silent_since
        return since is not None and time.monotonic() - since >= _SILENT

    def has_new_workers(self) -> bool:
        """Whether workers have come since the last question."""
        now = time.monotonic()
        if now - self._looked < _NEW_WORKERS:
            return False
        self._looked = now
        found = set(self._ask("ncores") or ())
        new = bool(self._workers) and bool(found - self._workers)
        self._workers = found
        return new

    def balanced(self, futures: Sequence[Any]) -> list[Any]:
        """Move things from workers that hold more than their share to those that hold less.

        Parameters
        ----------
        futures : sequence of distributed.Future
            The things.

        Returns
        -------
        list of distributed.Future
            The same things, some of them elsewhere.
        """
        keys = [future.key for future in futures]
        threads, holders = self._ask("ncores"), self._ask("who_has", keys=keys)
        sizes = self._ask("nbytes", keys=keys, summary=False)
        if threads is None or holders is None or sizes is None:
            return list(futures)  # the next task says why
        places = {key: workers[0] for key, workers in holders.items() if workers}
        moves = evened_out(places, sizes, threads)
        out = list(futures)
        for i, future in enumerate(futures):
            if future.key in moves:
                there = {"workers": [moves[future.key]], "allow_other_workers": True}
                out[i] = self.submit(_itself, future, **there)
        return out

    def best_places(self, groups: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        """Return where tasks had best be, for :meth:`submit`, of which each is for some things.

        Left to itself Dask often gives one of two workers six of ten.

        Parameters
        ----------
        groups : sequence of sequences of distributed.Future
            What each task will be given, which is there already.

        Returns
        -------
        list of dict
        """
        keys = [future.key for group in groups for future in group]
        threads = self._ask("ncores") or {}
        known = self._ask("nbytes", keys=keys, summary=False) or {}
        sizes = [sum(known.get(future.key, 0) for future in group) for group in groups]
        workers = shared_out(threads, sizes)
        return [{"workers": [worker], "allow_other_workers": True} for worker in workers] or [
            {} for _ in groups
        ]

    def _address(self) -> str:
        scheduler = getattr(self.client, "scheduler", None)
        return str(getattr(scheduler, "address", None) or self.client._start_arg)

    def release(self) -> None:
        """Let go of all results of this fit, so that workers forget them, and stop its tasks.

        (Asked to cancel tasks, Dask's scheduler stumbles over those between them that nobody holds,
        and drops the client.)
        """
        for future in list(self._futures.values()):
            future.release()


class ClusterHeld(Held[T]):
    """Things on the workers of a cluster.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    futures : sequence of distributed.Future
        The things.
    """

    def __init__(self, cluster: Cluster, futures: Sequence[Any]) -> None:
        self._cluster = cluster
        self._futures = list(futures)

    def total(self, function: Callable[[T], S], merge: Callable[[S, S], S]) -> S:
        """Return a value of each of them, merged in a tree of tasks."""
        if self._cluster.has_new_workers():
            self._futures = self._cluster.balanced(self._futures)
        parts = self._applied(function)
        nodes = list(parts)
        while len(nodes) > 1:
            groups = [nodes[i : i + FAN_IN] for i in range(0, len(nodes), FAN_IN)]
            nodes = [self._cluster.submit(_merge, merge, group) for group in groups]
        out: S = self._cluster.results(nodes, "parts", parts)[0]
        return out

    def each(self, function: Callable[[T], S]) -> list[S]:
        """Return a small value of each of them."""
        return self._cluster.results(self._applied(function), "parts")

    def joined(self, pieces: Sequence[Callable[[T], S]], finish: Callable[[list[S]], R]) -> list[R]:
        """Bring the pieces of all of them to one worker, kind by kind, and finish them there.

        All pieces are made before the first kind is finished, so that nobody waits for a worker
        that is busy finishing, and it is known how large each kind is when they are shared out.
        """
        if not pieces:
            return []
        cluster = self._cluster
        made = [self._applied(piece) for piece in pieces]
        cluster.await_all([future for group in made for future in group], "parts")
        last, places = cluster.shipped(finish), cluster.best_places(made)
        finished = [
            cluster.submit(_finish, last, group, **place)
            for group, place in zip(made, places, strict=True)
        ]
        return cluster.results(finished, "columns")

    def hold(self, make: Callable[..., S], by_part: Sequence[Any] | None = None) -> Held[S]:
        """Make something of each of them when it is asked for, and hold it there."""
        given = [()] * len(self._futures) if by_part is None else [(own,) for own in by_part]
        held = self._cluster.map(_keep, make, self._futures, [Parcel(own) for own in given])
        return ClusterHeld(self._cluster, held)

    def _applied(self, function: Callable[[T], S]) -> list[Any]:
        return self._cluster.map(_apply, function, self._futures)


def _words_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, or of the one that is partly applied, as words: "a-b".

    Parameters
    ----------
    function : callable
        The function.

    Returns
    -------
    str
    """
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__name__", type(inner).__name__)).strip("_").replace("_", "-")


def _apply(function: Parcel[Callable[[T], S]], thing: Parcel[Any]) -> Parcel[S]:
    return Parcel(function.content(got(thing.content)))


def _keep(
    make: Parcel[Callable[..., S]], thing: Parcel[Any], arguments: Parcel[tuple[Any, ...]]
) -> Parcel[Kept[S]]:
    return Parcel(Kept(thing.content, make.content, arguments.content))


def _merge(merge: Callable[[S, S], S], values: Sequence[Parcel[S]]) -> Parcel[S]:
    # A task that is run again after a worker has died must find what it was given.
    first = copy.deepcopy(values[0].content)
    return Parcel(merged(merge, [first, *(value.content for value in values[1:])]))


def _finish(finish: Parcel[Callable[[list[S]], R]], pieces: Sequence[Parcel[S]]) -> Parcel[R]:
    return Parcel(finish.content([piece.content for piece in pieces]))


def _itself(thing: T) -> T:
    return thing
