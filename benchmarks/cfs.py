"""CFSSelector beside WEKA's CfsSubsetEval.

Run with ``python benchmarks/cfs.py`` (``--quick`` for a tenth of the rows). Both search in the same
way, best first from the empty set, and both cut numbers into bins themselves. Each time is the
smallest of ``--repeats`` runs, ours and the peer's in turn, in this process; ours has one thread,
and so has WEKA's evaluator, but Java compiles and collects garbage in threads of its own. So both
the seconds on the clock and those of the processor are shown, and the smaller ratio counts. Making
the tables is not timed.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything that starts threads is imported

import argparse
import importlib.util
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import CFSSelector

Numbers = NDArray[np.float64]
Labels = NDArray[np.int64]

WANTED = 10.0


class Seconds(NamedTuple):
    """How long something took."""

    clock: float
    processor: float


def make_table(rows: int, columns: int) -> tuple[Numbers, Labels]:
    """Make a table of three classes; of ten columns four say something, and three repeat these."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, rows)
    X = rng.normal(size=(rows, columns))
    for j in range(columns):
        if j % 10 < 4:
            X[:, j] += 0.4 * ((y == j % 3) + 0.2 * y)
        elif j % 10 < 7:
            X[:, j] = X[:, j - 4] + 0.3 * X[:, j]
        elif j % 10 == 7:
            X[:, j] = np.round(3 * X[:, j])
    return X, y


def timed(function: Callable[[], Any]) -> tuple[Seconds, Any]:
    clock, processor = perf_counter(), process_time()
    result = function()
    return Seconds(perf_counter() - clock, process_time() - processor), result


@contextmanager
def running_java() -> Iterator[None]:
    import weka.core.jvm as jvm

    logging.getLogger("weka").setLevel(logging.WARNING)
    jvm.start(packages=False, max_heap_size="4g")
    try:
        yield
    finally:
        jvm.stop()


class Weka:
    """The table as WEKA holds it."""

    def __init__(self, X: Numbers, y: Labels) -> None:
        from jpype import JArray, JClass, JDouble
        from weka.core.dataset import Attribute, Instances

        attributes = [Attribute.create_numeric(f"x{j}") for j in range(X.shape[1])]
        classes = [str(label) for label in range(int(y.max()) + 1)]
        attributes.append(Attribute.create_nominal("class", classes))
        self.data = Instances.create_instances("table", attributes, len(y))
        row_type, cells = JClass("weka.core.DenseInstance"), np.column_stack([X, y])
        for row in cells:
            self.data.jobject.add(row_type(1.0, JArray(JDouble)(row)))
        self.data.class_is_last()

    def select(self) -> list[int]:
        """Return the places of the columns that WEKA selects."""
        from weka.attribute_selection import ASEvaluation, ASSearch, AttributeSelection

        selection = AttributeSelection()
        evaluator = "weka.attributeSelection.CfsSubsetEval"
        selection.evaluator(ASEvaluation(classname=evaluator, options=["-L"]))
        selection.search(ASSearch(classname="weka.attributeSelection.BestFirst"))
        selection.select_attributes(self.data)
        chosen = [int(place) for place in selection.selected_attributes]
        return sorted(place for place in chosen if place != self.data.class_index)


def race(X: Numbers, y: Labels, repeats: int) -> bool:
    """Show both times; return whether ours is as much shorter as it should be."""
    ours = theirs = Seconds(np.inf, np.inf)
    with running_java():
        weka = Weka(X, y)
        for _ in range(repeats):
            seconds, selector = timed(lambda: CFSSelector().fit(X, y))
            ours = Seconds(*np.minimum(ours, seconds))
            seconds, chosen = timed(weka.select)
            theirs = Seconds(*np.minimum(theirs, seconds))
    ratio = min(theirs.clock / ours.clock, theirs.processor / ours.processor)
    mine = np.flatnonzero(selector.support_).tolist()
    print(f"CFS, {X.shape[0]:,} x {X.shape[1]}: columns selected: {len(mine)}, WEKA {len(chosen)}, "
          f"both {len({*mine} & {*chosen})}")  # fmt: skip
    print(f"{'':<12} {'clock':>9} {'processor':>10}")
    for name, seconds in (("lessnaive", ours), ("WEKA", theirs)):
        print(f"{name:<12} {seconds.clock:>8.2f}s {seconds.processor:>9.2f}s")
    missed = "" if ratio >= WANTED else "  MISSED"
    print(f"{'ratio':<12} {theirs.clock / ours.clock:>8.1f}x "
          f"{theirs.processor / ours.processor:>9.1f}x   wanted {WANTED:g}x{missed}")  # fmt: skip
    return ratio >= WANTED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    X, y = make_table(10_000 if options.quick else 100_000, 100)
    CFSSelector().fit(X[:1000], y[:1000])  # whatever is done once is done before the clock starts
    if importlib.util.find_spec("weka") is None:
        print("python-weka-wrapper3 is not installed: pip install python-weka-wrapper3")
        best = min(timed(lambda: CFSSelector().fit(X, y))[0].clock for _ in range(options.repeats))
        print(f"CFS, {X.shape[0]:,} x {X.shape[1]}: {best:.2f} s")
    else:
        race(X, y, options.repeats)


if __name__ == "__main__":
    main()
