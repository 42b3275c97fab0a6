"""What a solver said about the minimum that a fitted model is at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.base import ScorecardClassifier
from lessnaive.penalty import Penalty
from lessnaive.plain import Node
from lessnaive.solver import Solution, suboptimality_bound

__all__ = ["Minimizer", "SolverReport", "number_from_plain", "number_to_plain"]

Floats = NDArray[np.float64]

_NUMBERS = ("objective", "kkt_residual", "suboptimality_bound", "lambda_max")
# How long an iteration took is nothing to keep: two fits would give two files.
_HISTORY = ("objective", "kkt_residual", "step", "best", "kept", "run")


class Minimizer(ScorecardClassifier):
    """A classifier that minimizes a loss plus a penalty, and says how well."""

    objective_: float
    n_iter_: int
    converged_: bool
    history_: dict[str, Floats]
    kkt_residual_: float
    suboptimality_bound_: float
    suboptimality_rule_: str
    lambda_max_: float


@dataclass(frozen=True)
class SolverReport:
    """The report and certificate of a solver, as the attributes of a fitted model tell them.

    Attributes
    ----------
    objective, kkt_residual, n_iter, converged, history
        As in :class:`Solution`.
    suboptimality_bound, suboptimality_rule
        How far the objective is above its minimum at the most, and why; infinity and "none" if
        nothing is known.
    lambda_max : float
        The smallest penalty that keeps everything at its target, or infinity.
    """

    #: The fields; the attributes of a model have an underscore more.
    names = (*_NUMBERS, "n_iter", "converged", "suboptimality_rule", "history")

    objective: float
    kkt_residual: float
    n_iter: int
    converged: bool
    history: dict[str, Floats]
    suboptimality_bound: float = np.inf
    suboptimality_rule: str = "none"
    lambda_max: float = np.inf

    @classmethod
    def of(
        cls, solution: Solution, penalty: Penalty | None = None, lambda_max: float = np.inf
    ) -> Self:
        """Return the report of a solution; with a certificate if the penalty of a convex loss."""
        known = (
            (np.inf, "none") if penalty is None else suboptimality_bound(solution.point, penalty)
        )
        return cls(
            solution.objective,
            solution.point.residual,
            max(1, solution.n_iter),  # as scikit-learn counts: a start that will do is one too
            solution.converged,
            solution.history.arrays(),
            *known,
            lambda_max,
        )

    @classmethod
    def of_model(cls, model: Minimizer) -> Self:
        """Return the report of a fitted model."""
        return cls(**{name: getattr(model, f"{name}_") for name in cls.names})

    def publish(self, model: Minimizer) -> None:
        """Set the attributes of a fitted model."""
        for name in self.names:
            setattr(model, f"{name}_", getattr(self, name))

    def to_plain(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "n_iter": self.n_iter,
            "converged": self.converged,
            **{name: number_to_plain(getattr(self, name)) for name in _NUMBERS},
            "suboptimality_rule": self.suboptimality_rule,
            "history": {
                name: values.tolist() for name, values in self.history.items() if name in _HISTORY
            },
        }

    @classmethod
    def from_plain(cls, fields: dict[str, Node]) -> Self:
        """Return the report that the fields of plain data describe; ModelFormatError if none."""
        history = fields["history"].entries()
        if "objective" not in history or not set(history) <= set(_HISTORY):
            raise fields["history"].error(f"expected objective and others of {_HISTORY}")
        length = len(history["objective"].items())
        return cls(
            n_iter=fields["n_iter"].integer(0, 2**53),
            converged=fields["converged"].flag(),
            suboptimality_rule=fields["suboptimality_rule"].text(),
            history={name: node.numbers(length) for name, node in history.items()},
            **{name: number_from_plain(fields[name]) for name in _NUMBERS},
        )


def number_to_plain(value: float) -> float | None:
    """Return a number, or None for infinity, which JSON does not know."""
    return None if np.isinf(value) else float(value)


def number_from_plain(node: Node) -> float:
    """Return a number, infinity for null."""
    return np.inf if node.is_null() else node.number()
