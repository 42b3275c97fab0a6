"""Newton steps for powers of weights between 0 and 1, which may not be convex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lessnaive import _core
from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.penalty import PowerPenalty
from lessnaive.solver.anytime.base import AnytimeSearch
from lessnaive.solver.base import Point
from lessnaive.solver.prox_newton import enough_rows

__all__ = ["PowerModel", "descend", "settled"]

Floats = NDArray[np.float64]

# Share of the predicted decrease that a step must bring.
_SUFFICIENT = 1e-4
# The curvature is looked at again after a step that kept less than this of its promise.
_KEPT = 0.7
# The best that can be hoped for is this much more than the model promises.
_HOPE = 2.0
# Rows that the curvature is estimated from: the slope is exact, so this need not be.
_FEWEST_ROWS = 4096
_ROWS_PER_WEIGHT = 50
# Rounds of coordinate descent on a model at the most, and while moves are tried.
_MOST_ROUNDS = 2000
_ROUNDS_OF_TRIAL = 20
# The curvature is raised by this share after a step that failed, and more after each other.
_FIRST_DAMPING = 1e-3
_MOST_DAMPING = 1e8
_MOST_STEPS = 200
# Steps that the criterion does not show, at the most: each must leave less than this of the slope.
_LAST_STEPS = 5
_LEFT = 0.3
# Weights that are looked at together at the most; if there are more, those that are in use and
# those that would gain most by being used.
_MOST_TOGETHER = 600
_FEWEST_OTHERS = 100


class PowerModel:
    """The quadratic model of the loss around a place, plus the penalty.

    Parameters
    ----------
    loss : WeightedEvidenceLoss
        The loss.
    penalty : PowerPenalty
        The penalty.
    place : Point
        Where the value and the slope of the model are exact.
    curvature : PowerModel, optional
        A model of another place whose curvature is taken over.
    """

    def __init__(
        self,
        loss: WeightedEvidenceLoss,
        penalty: PowerPenalty,
        place: Point,
        curvature: PowerModel | None = None,
    ) -> None:
        self.place = place
        self.is_fresh = curvature is None
        if curvature is None:
            self._chosen = _together(penalty, place)
            rows = min(enough_rows(loss), max(_FEWEST_ROWS, _ROWS_PER_WEIGHT * len(self._chosen)))
            self._hessian = loss.curvature(place.weights, self._chosen, rows, 0)
        else:
            self._chosen, self._hessian = curvature._chosen, curvature._hessian
        self._gradient = place.gradient[self._chosen]
        self._cost = penalty.cost[self._chosen]
        self._power = penalty.power
        self._lower, self._upper = np.zeros(len(self._chosen)), np.ones(len(self._chosen))

    def curvature_of(self, places: NDArray[np.int64]) -> Floats:
        """Return the second derivatives of the loss by some of the weights, all of them in use."""
        chosen = np.searchsorted(self._chosen, places)
        return np.asarray(self._hessian[np.ix_(chosen, chosen)])

    def sees_all(self, penalty: PowerPenalty) -> bool:
        """Whether there are no other weights that would be worth a look."""
        return bool(np.isin(_together(penalty, self.place), self._chosen).all())

    def minimum(self, tolerance: float, damping: float = 0.0) -> tuple[Floats, float]:
        """Return the weights where coordinate descent ends, and what they gain."""
        hessian = self._hessian
        if damping > 0:
            hessian = hessian.copy()
            diagonal = np.einsum("kk->k", hessian)
            diagonal += damping * (diagonal + diagonal.mean())
        x = self.place.weights[self._chosen]
        gain = _core.solve_power(
            hessian,
            self._gradient,
            self._cost,
            self._lower,
            self._upper,
            self._power,
            tolerance,
            _MOST_ROUNDS,
            x,
        )[1]
        return self._spread(x), -gain

    def moves(self, tolerance: float, most: int) -> list[Floats]:
        """Return weights with one column more or less, the ones that promise most first."""
        x = self.place.weights[self._chosen]
        values = np.empty(len(x))
        parts = (
            self._hessian,
            self._gradient,
            self._cost,
            self._lower,
            self._upper,
            self._power,
            tolerance,
            _ROUNDS_OF_TRIAL,
        )
        _core.try_moves(*parts, x, values)
        order = np.argsort(values, kind="stable")[:most]
        out = []
        for k in order[np.isfinite(values[order])].tolist():
            moved = x.copy()
            _core.make_move(*parts, k, moved)
            out.append(self._spread(moved))
        return out

    def _spread(self, x: Floats) -> Floats:
        out = self.place.weights.copy()
        out[self._chosen] = x
        return out


def descend(
    loss: WeightedEvidenceLoss,
    penalty: PowerPenalty,
    model: PowerModel,
    tolerance: float,
    search: AnytimeSearch,
    goal: float = np.inf,
) -> tuple[PowerModel, bool]:
    """Go down from the place of a model until it promises less than the tolerance.

    Steps that do not keep what the model promised are made again with a look at the curvature, if
    it is that of another place, or else with more of it: the penalty may be concave, so that
    shorter steps along the same line need not be better.

    Parameters
    ----------
    loss, penalty
        What is minimized.
    model : PowerModel
        The start.
    tolerance : float
        A smaller promise ends the descent.
    search : AnytimeSearch
        Is told of each place.
    goal : float, default=inf
        Where the model promises to stay above this, the descent is given up.

    Returns
    -------
    tuple of PowerModel and bool
        The model of the place that was reached, and whether it promises nothing more.
    """
    damping, place = 0.0, model.place
    for _ in range(_MOST_STEPS):
        weights, gain = model.minimum(0.1 * tolerance, damping)
        if gain <= tolerance and model.sees_all(penalty):
            return model, True
        if gain <= tolerance:
            model = PowerModel(loss, penalty, place)
            continue
        if place.objective - _HOPE * gain > goal:
            break
        following = Point.at(weights, loss, penalty)
        kept = (place.objective - following.objective) / gain
        if kept < _SUFFICIENT:
            if not model.is_fresh:
                model = PowerModel(loss, penalty, place)
                continue
            damping = max(_FIRST_DAMPING, 10 * damping)
            if damping > _MOST_DAMPING:
                break
            continue
        damping = damping / 10 if damping > _FIRST_DAMPING else 0.0
        place = following
        search.offer(place.weights, place.objective)
        model = PowerModel(loss, penalty, place, model if kept > _KEPT else None)
    return model, False


def settled(loss: WeightedEvidenceLoss, penalty: PowerPenalty, place: Point) -> Floats:
    """Return the weights at a minimum to the last digits, which the criterion does not show.

    They are found by Newton's steps for the weights between 0 and 1, as long as these take away
    most of the slope. Otherwise the weights would depend on the way there, by the root of what is
    lost in the rounding of the criterion.

    Parameters
    ----------
    loss, penalty
        What is minimized.
    place : Point
        A place near a minimum.

    Returns
    -------
    array of shape (n_weights,)
    """
    inside = np.flatnonzero((place.weights > 0) & (place.weights < 1))
    if len(inside) == 0 or len(inside) > _MOST_TOGETHER or place.residual == 0:
        return place.weights
    hessian = PowerModel(loss, penalty, place).curvature_of(inside)
    hessian[np.diag_indices(len(inside))] += penalty.bend(place.weights)[inside]
    try:
        factor = cho_factor(hessian)
    except LinAlgError:  # no minimum, or a flat one
        return place.weights
    for _ in range(_LAST_STEPS):
        weights = place.weights.copy()
        slope = penalty.subgradient(place.weights, place.gradient)
        weights[inside] -= cho_solve(factor, slope[inside])
        if not ((weights[inside] > 0) & (weights[inside] < 1)).all():
            break
        following = Point.at(weights, loss, penalty)
        if following.residual > _LEFT * place.residual:
            break
        place = following
    return place.weights


def _together(penalty: PowerPenalty, place: Point) -> NDArray[np.int64]:
    n_weights = len(place.weights)
    if n_weights <= _MOST_TOGETHER:
        return np.arange(n_weights)
    used = np.flatnonzero(place.weights)
    slope = place.gradient + (penalty.cost if penalty.power <= 1 else 0.0)
    wanting = np.where(place.weights > 0, np.inf, slope)
    room = max(_FEWEST_OTHERS, _MOST_TOGETHER - len(used))
    others = np.argsort(wanting, kind="stable")[:room]
    others = others[wanting[others] < 0] if penalty.is_convex else others
    return np.sort(np.concatenate([used, others[place.weights[others] == 0]]))
