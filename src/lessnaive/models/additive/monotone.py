"""Columns whose score must not fall, or not rise, with their value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lessnaive.models.additive.basis import Encoded, Line
from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.design import Design, Fit, Solution
from lessnaive.scorecard import PiecewiseTerm
from lessnaive.table import Schema

__all__ = ["MonotoneFit", "make_fit", "read_constraints", "without_rounding"]

Floats = NDArray[np.float64]
Signs = NDArray[np.int64]

# Iterations of L-BFGS for each of Newton's, and its status where no step lowers the objective.
_TIMES, _NO_LOWER = 20, 2


def read_constraints(constraints: Any, schema: Schema, n_classes: int) -> Signs:
    """Return -1, 0 or 1 for each column: its score must not rise, may do anything, must not fall.

    Parameters
    ----------
    constraints : mapping of names to numbers, array-like or None
        What the user gave.
    schema : Schema
        The columns.
    n_classes : int
        Number of classes.

    Returns
    -------
    array of int
    """
    names = schema.names
    if constraints is None:
        return np.zeros(len(names), dtype=np.int64)
    if isinstance(constraints, Mapping):
        unknown = [name for name in constraints if name not in set(names)]
        if unknown:
            raise ValueError(
                f"monotonic_cst names {unknown[0]!r}, which is not a column of the table: give "
                "names of columns."
            )
        values = np.array([constraints.get(name, 0) for name in names], dtype=np.float64)
    else:
        values = np.asarray(constraints, dtype=np.float64)
        if values.shape != (len(names),):
            raise ValueError(
                f"monotonic_cst has shape {values.shape}, but the table has {len(names)} columns: "
                "give one of -1, 0 and 1 for each."
            )
    wrong = [j for j, value in enumerate(values) if value not in (-1, 0, 1)]
    if wrong:
        raise ValueError(
            f"monotonic_cst is {values[wrong[0]]:g} for column {names[wrong[0]]!r}: it must be -1, "
            "0 or 1."
        )
    named = [j for j, value in enumerate(values) if value and schema.categorical[j]]
    if named:
        raise ValueError(
            f"monotonic_cst constrains column {names[named[0]]!r}, which is categorical and has no "
            "order: constrain numeric columns only."
        )
    if values.any() and n_classes > 2:
        raise ValueError(
            f"monotonic_cst is for two classes, but the target has {n_classes}: leave it out."
        )
    return values.astype(np.int64)


def make_fit(
    design: Design,
    encoded: Sequence[Encoded],
    inputs: Inputs,
    rows: NDArray[np.intp] | None = None,
) -> Fit:
    """Return the objective of a design for some rows, or for all.

    Parameters
    ----------
    design : Design
        The pieces.
    encoded : sequence of Encoded
        What they make of all rows.
    inputs : Inputs
        The table, and which columns must be monotone.
    rows : array of int, optional
        The rows to learn from.

    Returns
    -------
    Fit
    """
    labels, weights = inputs.labels, inputs.weights
    if rows is not None:
        encoded = [block.take(rows) for block in encoded]
        labels, weights = labels[rows], None if weights is None else weights[rows]
    if inputs.signs.any():
        return MonotoneFit(design, encoded, labels, weights, inputs.n_classes, inputs.signs)
    return Fit(design, encoded, labels, weights, inputs.n_classes)


@dataclass(frozen=True)
class _Rise:
    """A run of parameters, of which each is the one before plus a sign times a number >= 0."""

    begin: int
    end: int
    sign: int


class MonotoneFit(Fit):
    """The objective of a design some of whose pieces must be monotone.

    The parameters of such a piece are its first score and the rises from each score to the next,
    which have a bound: L-BFGS-B finds the minimum.
    """

    def __init__(
        self,
        design: Design,
        encoded: Sequence[Encoded],
        labels: NDArray[np.int32],
        weights: Floats | None,
        n_classes: int,
        signs: Signs,
    ) -> None:
        super().__init__(design, encoded, labels, weights, n_classes)
        self._rises: list[_Rise] = []
        at = 0
        penalty, link = design.penalties()
        curvature = np.append(penalty + 2 * link, 0.0)
        total = float(len(labels)) if weights is None else float(weights.sum())
        for piece, block in zip(design.pieces, encoded, strict=True):
            sign = int(signs[piece.column]) if hasattr(piece, "column") else 0
            if sign:
                first = at if isinstance(piece, Line) else at + 1
                self._rises.append(_Rise(first, at + piece.size, sign))
            self._add_counts(block, weights, curvature[at : at + piece.size])
            at += piece.size
        curvature[-1] = 0.15 * total
        self._curvature = np.maximum(curvature, 1e-3)
        self._total = total

    @staticmethod
    def _add_counts(block: Encoded, weights: Floats | None, out: Floats) -> None:
        if len(block.codes):
            out += 0.15 * np.bincount(block.codes, weights, minlength=len(out))
        else:
            w = 1.0 if weights is None else weights
            out += 0.15 * float((w * block.values**2).sum())

    def solve(self, lam: float, start: Floats | None, *, tol: float, max_iter: int) -> Solution:
        """Return the minimum at a penalty."""
        bend = self._curvature.copy()
        lower = np.full(len(bend), -np.inf)
        for rise in self._rises:
            run = slice(rise.begin, rise.end)
            bend[run] = np.cumsum(bend[run][::-1])[::-1]
            single = rise.end - rise.begin == 1  # a line
            lower[rise.begin if single else rise.begin + 1 : rise.end] = 0.0
        scale = 1.0 / np.sqrt(bend)
        begin = self._to_rises(self.start if start is None else start) / scale

        def objective(z: Floats) -> tuple[float, Floats]:
            value, gradient = self.objective(lam, self._from_rises(z * scale)[:, None])
            return value / self._total, self._slopes(gradient[:, 0]) * scale / self._total

        found = minimize(
            objective,
            np.maximum(begin, lower),
            jac=True,
            method="L-BFGS-B",
            bounds=[(None if np.isinf(low) else low, None) for low in lower],
            options={
                "maxiter": _TIMES * max_iter,
                "maxfun": 2 * _TIMES * max_iter,
                "ftol": 1e-2 * tol,
                "gtol": 1e-12,
            },
        )
        parameters = self._from_rises(found.x * scale)[:, None]
        # Where no step lowers the objective, rounding may be all that was left to gain.
        gradient = np.where((found.x <= lower) & (found.jac > 0), 0.0, found.jac)
        promised = 0.5 * float(gradient @ found.hess_inv(gradient))
        is_over = found.status == 0 or (found.status == _NO_LOWER and promised <= tol)
        return Solution(parameters, int(found.nit), is_over)

    def _from_rises(self, z: Floats) -> Floats:
        out = z.copy()
        for rise in self._rises:
            if rise.end - rise.begin == 1:
                out[rise.begin] *= rise.sign
                continue
            run = slice(rise.begin + 1, rise.end)
            out[run] = z[rise.begin] + rise.sign * np.cumsum(z[run])
        return out

    def _to_rises(self, parameters: Floats) -> Floats:
        out = parameters[:, 0].copy()
        for rise in self._rises:
            if rise.end - rise.begin == 1:
                out[rise.begin] *= rise.sign
                continue
            run = slice(rise.begin + 1, rise.end)
            out[run] = np.maximum(rise.sign * np.diff(parameters[rise.begin : rise.end, 0]), 0.0)
        return out

    def _slopes(self, gradient: Floats) -> Floats:
        out = gradient.copy()
        for rise in self._rises:
            if rise.end - rise.begin == 1:
                out[rise.begin] *= rise.sign
                continue
            tails = np.cumsum(gradient[rise.begin : rise.end][::-1])[::-1]
            out[rise.begin] = tails[0]
            out[rise.begin + 1 : rise.end] = rise.sign * tails[1:]
        return out


def without_rounding(term: PiecewiseTerm, sign: int) -> PiecewiseTerm:
    """Return a monotone curve of two classes without the falls that rounding has left in it.

    The kernel computes offset + slope (x - anchor), each operation of which keeps the order of its
    operands, so that a curve is monotone as soon as its segments are joined in order.
    """
    edges = term.edges
    offset, slope = sign * term.offset[:, 1], np.maximum(sign * term.slope[:, 1], 0.0)
    for k in range(1, len(offset)):
        start = edges[max(k - 2, 0)]
        end = offset[k - 1] + slope[k - 1] * (edges[k - 1] - start)
        offset[k] = max(offset[k], end)
    both = np.array([-1.0, 1.0]) * sign
    return PiecewiseTerm(
        term.name,
        term.inputs,
        edges,
        offset[:, None] * both,
        slope[:, None] * both,
        term.missing,
        term.counts,
    )
