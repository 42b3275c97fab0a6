"""Tables 1 and 2 of "Forward stagewise naive Bayes" (Vidaurre et al., 2012), theirs and ours.

    python -m reproduce.stagewise --out results/stagewise            # 100 repetitions
    python -m reproduce.stagewise --out results/stagewise --quick    # 10 of them

Table 1 is about synthetic tables (see stagewise_data.py): 300 training and 3,000 test rows. Table 2
is the Diabetes data, cut into two classes at each quartile, in 10-fold cross-validation; the folds
are drawn anew in each repetition. Finished repetitions are kept in the folder, so that a run which
was stopped goes on where it was. All methods see the same rows. Estimates are maximum likelihood,
as in the paper; --smoothing changes that.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_diabetes
from sklearn.model_selection import StratifiedKFold

from reproduce.stagewise_data import SCENARIOS
from reproduce.stagewise_methods import METHODS, make, used_columns
from reproduce.stagewise_report import report

N_TRAIN, N_TEST = 300, 3000
FOLDS = 10
QUICK = 10
QUARTILES = {"1/4": 0.25, "1/2": 0.5, "3/4": 0.75}

Parts = Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


def synthetic(data: str, repetition: int) -> Parts:
    """One pair of training and test rows."""
    rng = np.random.default_rng([list(SCENARIOS).index(data), repetition])
    truth = SCENARIOS[data].draw(rng)
    yield (*truth.sample(rng, N_TRAIN), *truth.sample(rng, N_TEST))


def diabetes(data: str, repetition: int) -> Parts:
    """Ten pairs: the share of the first class is that of the quartile."""
    X, response = load_diabetes(return_X_y=True)
    y = (response >= np.quantile(response, QUARTILES[data])).astype(int)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repetition)
    for train, test in folds.split(X, y):
        yield X[train], y[train], X[test], y[test]


def measure(method: str, data: str, repetition: int, options: dict[str, Any]) -> dict[str, float]:
    """Means over the parts of a repetition."""
    discrete = data in SCENARIOS and SCENARIOS[data].kind == "discrete"
    options = options | ({"categorical_features": "all"} if discrete else {})
    parts = synthetic(data, repetition) if data in SCENARIOS else diabetes(data, repetition)
    rows = []
    for X, y, X_test, y_test in parts:
        model = make(method, options).fit(X, y)
        used = used_columns(model)
        rows.append(
            {
                "error": float(np.mean(model.predict(X_test) != y_test)),
                "selected": int(used.sum()),
                "noisy": int(used[-SCENARIOS[data].n_noise :].sum()) if data in SCENARIOS else 0,
                "evaluations": getattr(model, "n_evaluations_", 0),
            }
        )
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def read(file: Path) -> list[dict[str, Any]]:
    """Finished repetitions; a line that was cut off when a run was stopped is removed."""
    if not file.exists():
        return []
    lines = [line for line in file.read_text().splitlines(keepends=True) if line.endswith("}\n")]
    file.write_text("".join(lines))
    return [json.loads(line) for line in lines]


def results_file(out: Path, smoothing: float) -> Path:
    """Return where results are kept: those of other settings are in other files."""
    return out / f"stagewise_smoothing_{smoothing:g}.jsonl"


def run(
    out: Path,
    repetitions: int,
    smoothing: float,
    data: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Measure what has not been measured yet; return all of it."""
    out.mkdir(parents=True, exist_ok=True)
    file = results_file(out, smoothing)
    results = read(file)
    done = {(r["data"], r["method"], r["repetition"]) for r in results}
    options = {"smoothing": smoothing, "priors": "empirical"}
    wanted = (*SCENARIOS, *QUARTILES) if data is None else data
    present = [method for method in methods or METHODS if make(method, options) is not None]
    jobs = [
        (name, method, repetition)
        for repetition in range(repetitions)
        for name in wanted
        for method in present
        if (name, method, repetition) not in done
    ]
    with file.open("a") as handle:
        for name, method, repetition in track(
            jobs, description="repetitions", console=Console(stderr=True)
        ):
            row: dict[str, Any] = {"data": name, "method": method, "repetition": repetition}
            row |= measure(method, name, repetition, options)
            handle.write(json.dumps(row) + "\n")
            handle.flush()
            results.append(row)
    return [r for r in results if r["repetition"] < repetitions]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="reproduce.stagewise", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, default=Path("results/stagewise"), help="folder")
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} repetitions only")
    parser.add_argument(
        "--report-only", action="store_true", help="measure nothing, show what there is"
    )
    parser.add_argument("--docs", type=Path, help="folder for the tables as CSV files")
    parser.add_argument("--smoothing", type=float, default=0.0, help="pseudo-count of a column")
    given = parser.parse_args()
    repetitions = QUICK if given.quick else given.repetitions
    if given.report_only:
        results = read(results_file(given.out, given.smoothing))
    else:
        results = run(given.out, repetitions, given.smoothing)
    report(results, Console(), given.out, given.docs)


if __name__ == "__main__":
    main()
