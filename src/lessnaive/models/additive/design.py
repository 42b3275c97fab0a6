"""A penalized additive model of some rows: pieces side by side, and the minimum of its objective.

    sum_i w_i nll_i + lam / 2 sum_p m_p (W_p - W0_p)^2 + lam / 2 sum_p f_p (W_p+1 - W_p)^2

Two classes have one score, the log-odds of the second; more have one score each. Intercepts are
free. Parameters of columns that must be monotone must not fall, or not rise, from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.basis import Encoded, Line, NumericPiece, Piece
from lessnaive.models.additive.columns import Inputs

__all__ = ["Design", "Fit", "Solution", "class_logs", "encode", "kernel_rows"]

Floats = NDArray[np.float64]
Signs = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Solution:
    """Parameters (intercepts in the last row), and how they were found."""

    parameters: Floats
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Design:
    """Pieces and where their parameters are pulled to.

    Attributes
    ----------
    pieces : sequence of Piece
        The pieces.
    target : array of shape (n_parameters, n_outputs) or None
        Where parameters are pulled to; None: to 0.
    encoded : list of Encoded or None
        What the pieces make of the rows of the table they were learned from, if it is known.
    """

    pieces: Sequence[Piece]
    target: Floats | None = None
    encoded: list[Encoded] | None = None

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return np.array([piece.size for piece in self.pieces], dtype=np.intp)

    @property
    def size(self) -> int:
        """Number of parameters of one output, without the intercept."""
        return int(self._sizes.sum())

    def penalties(self) -> tuple[Floats, Floats]:
        """Return what squares of parameters and of differences to the next parameter cost."""
        sizes, ends = self._sizes, np.cumsum(self._sizes)
        penalty = np.array([piece.penalty for piece in self.pieces], dtype=np.float64)
        fusion = np.array([piece.fusion for piece in self.pieces], dtype=np.float64)
        link = np.repeat(fusion, sizes)
        link[(ends - sizes)[sizes > 0]] = 0.0  # the first parameter is that of missing
        link[ends[sizes > 0] - 1] = 0.0
        return np.repeat(penalty, sizes), link

    def runs(self, signs: Signs) -> Signs:
        """Return the runs of parameters that must not fall, or not rise: begin, end and sign."""
        out, end = [], 0
        for piece in self.pieces:
            begin, end = end, end + piece.size
            if isinstance(piece, Line):  # whose slope has the sign
                out.append((begin, end, signs[piece.column]))
            elif isinstance(piece, NumericPiece) and piece.size > 2:
                out.append((begin + 1, end, signs[piece.column]))  # the first is that of missing
        return np.array([run for run in out if run[2]], dtype=np.int64).reshape(-1, 3)

    def parts(self, parameters: Floats) -> list[Floats]:
        """Return the parameters of each piece."""
        ends = np.cumsum(self._sizes)
        return np.split(parameters[:-1], ends[:-1]) if self.pieces else []


class Fit:
    """The objective of a design for some rows; minima are found from one penalty to the next.

    Parameters
    ----------
    design : Design
        The pieces.
    encoded : sequence of Encoded
        What they make of all rows.
    inputs : Inputs
        The table, and which columns must be monotone.
    rows : array of int, optional
        The rows to learn from; all by default.
    """

    def __init__(
        self,
        design: Design,
        encoded: Sequence[Encoded],
        inputs: Inputs,
        rows: Rows | None = None,
    ) -> None:
        labels, weights, n_classes = inputs.labels, inputs.weights, inputs.n_classes
        if rows is not None:
            encoded = [block.take(rows) for block in encoded]
            labels, weights = labels[rows], None if weights is None else weights[rows]
        self.rows = kernel_rows(encoded, labels, weights, n_classes)
        logs, absent = class_logs(labels, weights, n_classes)
        self._size, self._target, self._logs = design.size, design.target, logs
        penalty, link = design.penalties()
        # The intercept of a class without rows would go to minus infinity.
        runs = design.runs(inputs.signs)
        self._newton = _core.AdditiveNewton(self.rows, penalty, link, self.start, absent, runs)

    @property
    def start(self) -> Floats:
        """Where the first search begins: what parameters are pulled to, and class frequencies."""
        out = np.zeros((self._size + 1, len(self._logs)))
        if self._target is not None:
            out[:-1] = self._target
        out[-1] = self._logs
        return out

    def solve(self, lam: float, start: Floats | None, *, tol: float, max_iter: int) -> Solution:
        """Return the minimum at a penalty; `tol` is the gain per row that ends the search."""
        parameters = self.start if start is None else start.copy()
        steps, _, done, _, _ = self._newton.minimize(lam, tol, max_iter, parameters)
        return Solution(parameters, steps, done)

    def objective(self, lam: float, parameters: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        gradient = np.empty_like(parameters)
        return self._newton.objective(lam, parameters, gradient), gradient


def encode(pieces: Sequence[Piece], inputs: Inputs) -> list[Encoded]:
    """Return what the pieces make of the columns."""
    return [piece.encode(inputs.columns) for piece in pieces]


def kernel_rows(
    encoded: Sequence[Encoded],
    labels: NDArray[np.int32],
    weights: Floats | None,
    n_classes: int,
) -> _core.AdditiveRows:
    """Return rows for the kernel."""
    return _core.AdditiveRows(
        [block.kind for block in encoded],
        [block.size for block in encoded],
        [block.codes for block in encoded],
        [block.values for block in encoded],
        labels,
        weights,
        n_classes,
    )


def class_logs(
    labels: NDArray[np.int32], weights: Floats | None, n_classes: int
) -> tuple[Floats, Floats]:
    """Return logarithms of the class weights as scores, and 1 for scores of classes without any."""
    counts = np.bincount(labels, weights, minlength=n_classes)
    logs = np.log(counts + 0.5)
    if n_classes == 2:
        return logs[1:] - logs[:1], np.array([float((counts == 0).any())])
    return logs - logs.mean(), (counts == 0).astype(np.float64)
