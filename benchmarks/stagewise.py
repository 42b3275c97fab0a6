"""StagewiseNB: times of fit beside their targets, and work per candidate.

Run with ``python benchmarks/stagewise.py`` (``--quick`` for a tenth of the rows of the large
tables). Each time is the best of several runs. The targets are for two cores.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time
from typing import Any

import numpy as np

from lessnaive import StagewiseNB, _core


def discrete(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Codes of three values; columns differ in how often they show the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    shown = rng.random((n, p)) < np.linspace(0.02, 0.3, p)
    return np.where(shown, y[:, None], rng.integers(0, 3, (n, p))).astype(np.uint8), y


def numbers(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, p)) + rng.normal(0.0, 0.3, (3, p))[y], y


def show(
    task: str, make: Any, n: int, p: int, repeats: int, wanted: float | None, **options: Any
) -> None:
    """Time a fit and print a line."""
    X, y = make(n, p)
    if make is discrete:
        options["categorical_features"] = "all"
    paper = {"criterion": "error", "numeric": "gaussian", "variance_prior": 0.0}
    model = StagewiseNB(**(paper | options))
    best = busy = np.inf
    for _ in range(repeats):
        start, start_busy = perf_counter(), process_time()
        model.fit(X, y)
        best, busy = min(best, perf_counter() - start), min(busy, process_time() - start_busy)
    verdict = "" if wanted is None else f"{wanted:>8.3g} s"
    missed = "  MISSED" if wanted is not None and best > wanted else ""
    each = 1e9 * busy / (model.n_evaluations_ * n)
    print(
        f"{task:<44} {best:>9.4f} s {verdict:>10} {model.n_iter_:>6} {model.n_evaluations_:>11,} "
        f"{each:>7.2f} ns{missed}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=5, help="runs of the small tables")
    options = parser.parse_args()
    n = 10_000 if options.quick else 100_000
    small, large = (0.05, None if options.quick else 60.0)
    print(f"{_core.max_threads()} threads; ns: CPU time per row and candidate")
    columns = f"{'time':>11} {'wanted':>10} {'steps':>6} {'candidates':>11}"
    print(f"{'task (3 classes)':<44} {columns}")
    for name, make in (("codes", discrete), ("numbers", numbers)):
        show(f"300 x 20 {name}", make, 300, 20, options.repeats, small)
        show(
            f"300 x 20 {name}, log-loss", make, 300, 20, options.repeats, None, criterion="log_loss"
        )
        show(f"300 x 20 {name}, the whole path", make, 300, 20, 1, None, patience=None)
        show(f"{n:,} x 50 {name}", make, n, 50, 1, large)
    show("10,000 x 50 numbers, log-loss", numbers, 10_000, 50, 1, None, criterion="log_loss")


if __name__ == "__main__":
    main()
