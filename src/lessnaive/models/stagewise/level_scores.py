"""Evidence of columns at all levels between the pooled and the per-class estimate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.blending import blended
from lessnaive.scorecard.terms.base import Work
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.table import Column

__all__ = ["LevelScores", "at_levels"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Scores of classes that differ by no more than this are equal: which of the two is larger is then
# up to the rounding of their sums.
SCORE_TOLERANCE = 1e-9
_JOINT = 0


def at_levels(zero: Scorecard, one: Scorecard, levels: Integers, n_levels: int) -> Scorecard:
    """Return the model with each column at its level; columns at level 0 are left out.

    Parameters
    ----------
    zero, one : Scorecard
        The models with all columns at level 0 and at the highest level.
    levels : array of shape (n_columns,)
        Level of each column, from 0 to `n_levels`.
    n_levels : int
        The highest level.

    Returns
    -------
    Scorecard
    """
    terms = [
        second if level == n_levels else blended(first, second, level / n_levels)
        for first, second, level in zip(zero.terms, one.terms, levels.tolist(), strict=True)
        if level > 0
    ]
    return Scorecard(one.model, one.schema, one.classes, one.intercept, terms)


class LevelScores:
    """The evidence in the rows of a table, of each column at each level.

    Parameters
    ----------
    zero, one : Scorecard
        The models with all columns at level 0 and at the highest level; a term for each column.
    columns : sequence of Column
        The rows.
    n_levels : int
        The highest level.
    look_ahead : int
        Number of steps that are looked at.

    Attributes
    ----------
    speaks : array of shape (n_columns,)
        Whether each column says anything; one without a single value does not.
    """

    def __init__(
        self,
        zero: Scorecard,
        one: Scorecard,
        columns: Sequence[Column],
        n_levels: int,
        look_ahead: int,
    ) -> None:
        self.n_levels = n_levels
        self.n_columns = len(one.terms)
        self._intercept = one.intercept
        self._n_rows = len(columns[0])
        self._look_ahead = look_ahead
        self._ends = list(zip(zero.terms, one.terms, strict=True))
        self._columns = columns
        self._codes = SharedCodes(columns)
        # The evidence of each column from its present level to as far as a scan looks: all levels
        # of a column with many values would be many numbers.
        self._work = Work()
        self._levels = np.full(self.n_columns, -1, dtype=np.int64)
        self._go_to(np.zeros(self.n_columns, dtype=np.int64))
        self.speaks = np.array(
            [term.counts is None or bool(term.counts[1:].any()) for term in one.terms]
        )

    def _go_to(self, levels: Integers) -> None:
        """Find the evidence of the columns that were at another level."""
        ahead = np.arange(1 + _in_lanes(self._look_ahead))
        for j in np.flatnonzero(levels != self._levels).tolist():
            zero, one = self._ends[j]
            # A level beyond the highest is the highest, so that a scan never ends before its last
            # step.
            shares = np.minimum((levels[j] + ahead) / self.n_levels, 1.0)
            columns = [self._columns[i] for i in one.inputs]
            self._work.drop(j)  # before there is another: it may be large
            operand = one.operand_between(zero, shares, columns, self._codes)
            operand.single().join(self._work, j)
        self._levels[:] = levels

    def _by_level(self, values: Floats) -> Floats:
        """(..., class and level) as (..., class, level)."""
        return np.ascontiguousarray(values.reshape(len(values), len(self._intercept), -1))

    def _at_level(self, values: Floats) -> Floats:
        """(..., class), at the present level."""
        return np.ascontiguousarray(self._by_level(values)[:, :, 0])

    def scores(self, levels: Integers) -> Floats:
        """Scores of the rows, (n_rows, n_classes), with each column at its level."""
        self._go_to(levels)
        # Sums have one order, whichever column was looked at last.
        lookups = [x for j, x in sorted(self._work.lookups.items()) if levels[j] > 0]
        quadratics = [x for j, x in sorted(self._work.quadratics.items()) if levels[j] > 0]
        out = np.empty((self._n_rows, len(self._intercept)))
        _core.score(
            [x.codes for x in lookups],
            [x.shift for x in lookups],
            [self._at_level(x.table) for x in lookups],
            [x.values for x in quadratics],
            [self._at_level(x.parameters) for x in quadratics],
            self._intercept,
            _JOINT,
            out,
        )
        return out

    def losses_of_steps(
        self,
        levels: Integers,
        columns: Integers,
        labels: NDArray[np.integer],
        weights: Floats | None,
        scores: Floats,
        *,
        log_loss: bool,
        n_steps: int | None = None,
    ) -> Floats:
        """Loss after one or more steps in one of the columns.

        Parameters
        ----------
        levels : array of shape (n_columns,)
            Level of each column now.
        columns : array of shape (n_candidates,)
            The columns to look at, ascending, none of them at the highest level.
        labels : array of shape (n_rows,)
            Place of each row's class.
        weights : array of shape (n_rows,) or None
            Sample weights.
        scores : array of shape (n_rows, n_classes)
            What :meth:`scores` returns for the levels.
        log_loss : bool
            Whether the loss is the log-loss; else it is the weight of wrong rows.
        n_steps : int, optional
            Number of steps to look at, no more than the look-ahead; all of these by default.

        Returns
        -------
        array of shape (n_candidates, n_steps)
            Sums over rows; infinite for steps beyond the highest level.
        """
        self._go_to(levels)
        lookups, quadratics = self._work.lookups, self._work.quadratics
        coded = [j for j in columns.tolist() if j in lookups]
        numeric = [j for j in columns.tolist() if j in quadratics]
        n_steps = self._look_ahead if n_steps is None else n_steps
        scanned = np.empty((len(columns), _in_lanes(n_steps)))
        _core.scan_steps(
            [lookups[j].codes for j in coded],
            [lookups[j].shift for j in coded],
            [self._by_level(lookups[j].table) for j in coded],
            [quadratics[j].values for j in numeric],
            [self._by_level(quadratics[j].parameters) for j in numeric],
            [0 for _ in (*coded, *numeric)],  # what comes first is the present level
            labels,
            weights,
            scores,
            log_loss,
            SCORE_TOLERANCE,
            scanned,
        )
        out = np.empty((len(columns), n_steps))
        out[np.searchsorted(columns, [*coded, *numeric])] = scanned[:, :n_steps]
        steps = np.arange(1, n_steps + 1)
        out[levels[columns][:, None] + steps > self.n_levels] = np.inf
        return out


def _in_lanes(n_steps: int) -> int:
    """Return the number of steps that the kernel looks at, which takes several at a time."""
    return -(-n_steps // _core.STEP_LANES) * _core.STEP_LANES
