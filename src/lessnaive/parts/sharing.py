"""Which worker of a cluster has what: as much for each as it can take."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

__all__ = ["evened_out", "shared_out"]

# A thing is moved if its new worker has less than this share of what the old one had.
_EVEN = 0.95


def shared_out(threads: Mapping[str, int], sizes: Sequence[int]) -> list[str]:
    """Give each of several tasks a worker: the largest first, to whoever is done first.

    Parameters
    ----------
    threads : mapping of str to int
        How many threads each worker has, which is how many tasks it does at a time.
    sizes : sequence of int
        How large the tasks are.

    Returns
    -------
    list of str
        Empty if there are no workers.
    """
    if not threads:
        return []
    # Of threads that are done at the same time the next one is that of another worker.
    turns = [(turn, place) for place, n in enumerate(threads.values()) for turn in range(n)]
    free, names = [(0, *turn) for turn in sorted(turns)], list(threads)
    out = [""] * len(sizes)
    for task in sorted(range(len(sizes)), key=lambda task: -sizes[task]):
        load, turn, place = heapq.heappop(free)
        out[task] = names[place]
        # A task takes some time even if it is for nothing.
        heapq.heappush(free, (load + max(1, sizes[task]), turn, place))
    return out


def evened_out(
    places: Mapping[str, str], sizes: Mapping[str, int], threads: Mapping[str, int]
) -> dict[str, str]:
    """Find which things should go to which workers, so that each has about its share.

    Parameters
    ----------
    places : mapping of str to str
        The worker that holds a thing.
    sizes : mapping of str to int
        How large things are.
    threads : mapping of str to int
        How many threads a worker has, which is how much it can take.

    Returns
    -------
    dict of str to str
        New workers of some of the things, of as few as possible.
    """
    share = {key: sizes.get(key, 0) for key, worker in places.items() if worker in threads}
    own: dict[str, list[str]] = {worker: [] for worker in threads}
    for key in share:
        own[places[key]].append(key)
    load = {w: sum(share[key] for key in keys) / threads[w] for w, keys in own.items()}
    moves: dict[str, str] = {}
    for _ in share:
        most, least = max(load, key=load.__getitem__), min(load, key=load.__getitem__)
        limit = (_EVEN * load[most] - load[least]) * threads[least]
        fitting = [key for key in own[most] if share[key] < limit]
        if not fitting:
            break
        key = max(fitting, key=share.__getitem__)
        own[most].remove(key)
        own[least].append(key)
        load[most] -= share[key] / threads[most]
        load[least] += share[key] / threads[least]
        moves[key] = least
    return moves
