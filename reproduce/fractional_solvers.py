"""How near the solvers of FractionalNB come to the minimum, and how long they take."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from reproduce.cpu_time import cpu_seconds
from reproduce.fractional_cells import load
from reproduce.fractional_methods import fractional

__all__ = ["LEVELS", "PROBLEMS", "SOLVERS", "SolverCell", "measure_solver"]

LEVELS = (3, 4, 5)
PROBLEMS: dict[str, dict[str, Any]] = {
    "lam=0": {"lam": 0.0, "p": 1.0},
    "lam=0.1 p=0.5": {"lam": 0.1, "p": 0.5},
}
SOLVERS: dict[str, dict[str, Any]] = {
    "two-stage": {"solver": "two-stage"},
    "PGDMB L=100": {"solver": "pgdmb", "batch_size": 100},
    "PGDMB L=1000": {"solver": "pgdmb", "batch_size": 1000},
    "PGDMB L=N": {"solver": "pgdmb", "batch_size": 10**9},
    **{f"MS {level}": {"solver": "pgdmb-ms", "opti_level": level} for level in LEVELS},
    **{f"VNS {level}": {"solver": "pgdmb-vns", "opti_level": level} for level in LEVELS},
}


class SolverCell(NamedTuple):
    """A piece of work: one solver on all rows of a table."""

    table: str
    problem: str
    solver: str


def measure_solver(cell: SolverCell) -> dict[str, Any]:
    """Solve one problem."""
    X, y = load(cell.table)
    X = X.loc[:, X.notna().any()]
    model = fractional(**PROBLEMS[cell.problem], **SOLVERS[cell.solver])
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # some descents end before they have converged: as published
        start = cpu_seconds()
        model.fit(X, y)
        seconds = cpu_seconds() - start
    return {
        **cell._asdict(),
        "objective": model.objective_,
        "null_cost": model.null_cost_,
        "compression": model.compression_rate_,
        "kept": int(model.support_.sum()),
        "n_iter": model.n_iter_,
        "seconds": seconds,
    }
