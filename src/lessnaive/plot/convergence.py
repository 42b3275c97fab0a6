"""How solvers come near the minimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lessnaive.models.weighted.learning import LearnedWeights
from lessnaive.plot.axes import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["ConvergenceDisplay"]

Floats = NDArray[np.float64]

# Up to this many iterations the points are marked.
_FEW = 30


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay:
    """Distance to the minimum by iteration, on a logarithmic scale, for several solvers.

    It is best made with :meth:`from_histories`, or :meth:`from_estimator` for one model. The
    arguments are kept as attributes.

    Parameters
    ----------
    gaps : mapping of str to array
        For each solver how far the objective is above its minimum, from the start on.
    distances : mapping of str to array, optional
        For each solver the distance of the weights to those at the minimum, as the square root of
        the sum of squares.
    seconds : mapping of str to array, optional
        For each solver the time since the start.
    floor : float, default=0.0
        The rounding of the objective: smaller gaps cannot be told from it, and are drawn there.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for the objective and, if distances are known, one for the weights.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    lines_ : list of dict of str to matplotlib Line2D
        The lines of each of the axes, by solver.

    See Also
    --------
    lessnaive.BaristaNB : Its ``history_`` is what is drawn.

    Examples
    --------
    >>> from lessnaive import BaristaNB
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import ConvergenceDisplay
    >>> from lessnaive.solver import FISTA, ProxNewton
    >>> X, y = load_penguins()
    >>> histories = {
    ...     type(solver).__name__: BaristaNB(l1=1.0, solver=solver).fit(X, y).history_
    ...     for solver in (FISTA(keep_weights=True), ProxNewton(keep_weights=True))
    ... }
    >>> optimum = BaristaNB(l1=1.0, tol=1e-12).fit(X, y)
    >>> display = ConvergenceDisplay.from_histories(histories, optimum)
    >>> [axes.get_ylabel() for axes in display.axes_]
    ['objective above its minimum', 'distance to the best weights']
    """

    gaps: Mapping[str, ArrayLike]
    distances: Mapping[str, ArrayLike] | None = None
    seconds: Mapping[str, ArrayLike] | None = None
    floor: float = 0.0

    @classmethod
    def from_estimator(
        cls,
        estimator: LearnedWeights,
        *,
        optimum: LearnedWeights | None = None,
        x: str = "iteration",
        log_x: bool = False,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw what the solver of one model noted down.

        Parameters
        ----------
        estimator : BaristaNB, BaristaNBCV or AttributeWeightedNB
            A fitted model.
        optimum : BaristaNB, BaristaNBCV or AttributeWeightedNB, optional
            What the distances are to, as in :meth:`from_histories`; by default where the solver
            ended.
        x, log_x, axes
            As in :meth:`from_histories`.

        Returns
        -------
        ConvergenceDisplay
        """
        _check_weights(estimator, "estimator")
        histories = {type(estimator).__name__: estimator.history_}
        best = estimator if optimum is None else optimum
        return cls.from_histories(histories, best, x=x, log_x=log_x, axes=axes)

    @classmethod
    def from_histories(
        cls,
        histories: Mapping[str, Mapping[str, Floats]],
        optimum: LearnedWeights,
        *,
        x: str = "iteration",
        log_x: bool = False,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw what solvers noted down.

        Parameters
        ----------
        histories : mapping of str to dict of arrays
            ``history_`` of fitted models, by a name each. Distances of the weights are drawn if all
            of them hold "weights", which solvers keep if they are made with ``keep_weights=True``.
        optimum : BaristaNB, BaristaNBCV or AttributeWeightedNB
            The same model with a small tolerance: what the distances are to.
        x : {"iteration", "seconds"}, default="iteration"
            What the horizontal axes are.
        log_x : bool, default=False
            Whether the horizontal axes are logarithmic; iteration 0 is drawn all the same.
        axes : sequence of matplotlib Axes, optional
            Where to draw: one, or two if there are distances; by default a new figure.

        Returns
        -------
        ConvergenceDisplay
        """
        _check_weights(optimum, "optimum")
        best, weights = optimum.objective_, optimum.weights_
        iterates, seconds = _all(histories, "weights"), _all(histories, "seconds")
        distances = None
        if iterates is not None:
            distances = {name: _distance(kept, weights) for name, kept in iterates.items()}
        display = cls(
            gaps={name: history["objective"] - best for name, history in histories.items()},
            distances=distances,
            seconds=seconds,  # which a model file does not keep
            floor=float(np.spacing(abs(best))),
        )
        return display.plot(x=x, log_x=log_x, axes=axes)

    def plot(
        self, *, x: str = "iteration", log_x: bool = False, axes: Sequence[Axes] | None = None
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        x : {"iteration", "seconds"}, default="iteration"
            What the horizontal axes are.
        log_x : bool, default=False
            Whether the horizontal axes are logarithmic; iteration 0 is drawn all the same.
        axes : sequence of matplotlib Axes, optional
            Where to draw: one, or two if there are distances; by default a new figure.

        Returns
        -------
        ConvergenceDisplay
            The display itself.
        """
        if x not in ("iteration", "seconds"):
            raise ValueError(f"x must be 'iteration' or 'seconds', got {x!r}.")
        if x == "seconds" and self.seconds is None:
            raise ValueError("x='seconds' needs the times of the iterations: give seconds.")
        curves: list[tuple[str, Mapping[str, ArrayLike], float]] = [
            ("objective above its minimum", self.gaps, self.floor)
        ]
        if self.distances is not None:
            curves.append(("distance to the best weights", self.distances, 0.0))
        self.axes_ = _new_axes(len(curves)) if axes is None else list(axes)
        if len(self.axes_) != len(curves):
            raise ValueError(f"{len(curves)} axes are needed, got {len(self.axes_)}.")
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        self.lines_ = [
            self._draw(ax, values, floor, x)
            for ax, (_, values, floor) in zip(self.axes_, curves, strict=True)
        ]
        for ax, (label, _, _) in zip(self.axes_, curves, strict=True):
            ax.set(xlabel="iteration" if x == "iteration" else "seconds", ylabel=label)
            ax.set_title(label.partition(" ")[0] if label.startswith("objective") else "weights")
            ax.set_yscale("log", nonpositive="mask")
            ax.grid(alpha=0.3)
            if log_x:
                _log_x(ax, x)
        if axes is None:  # above, where no curve is
            self.figure_.legend(
                handles=list(self.lines_[0].values()), loc="outside upper center", ncols=4
            )
        else:
            self.axes_[0].legend()
        return self

    def _draw(
        self, ax: Axes, values: Mapping[str, ArrayLike], floor: float, x: str
    ) -> dict[str, Line2D]:
        out = {}
        for name, given in values.items():
            heights = np.maximum(np.asarray(given, dtype=np.float64), floor)
            places: Any = np.arange(len(heights))
            if x == "seconds":
                assert self.seconds is not None
                places = np.asarray(self.seconds[name])
            marker = "o" if len(heights) <= _FEW else None
            (out[name],) = ax.plot(places, heights, marker=marker, markersize=4, label=name)
        return out


def _check_weights(model: Any, name: str) -> None:
    """Refuse what is no fitted model with learned weights."""
    if not isinstance(model, LearnedWeights):
        raise TypeError(
            f"{name} must be a fitted model with learned weights, got {type(model).__name__}."
        )
    check_is_fitted(model)


def _all(histories: Mapping[str, Mapping[str, Floats]], what: str) -> dict[str, Floats] | None:
    """Return one entry of all histories, or None if one of them does not have it."""
    if not all(what in history for history in histories.values()):
        return None
    return {name: history[what] for name, history in histories.items()}


def _distance(iterates: Floats, weights: Floats) -> Floats:
    return np.asarray(np.sqrt(((iterates - weights) ** 2).reshape(len(iterates), -1).sum(axis=1)))


def _log_x(ax: Axes, x: str) -> None:
    if x == "iteration":
        ax.set_xscale("symlog", linthresh=1.0)  # linear from 0 to 1
        ax.set_xlim(left=0)
    else:
        ax.set_xscale("log", nonpositive="mask")


def _new_axes(number: int) -> list[Axes]:
    plt = import_pyplot("ConvergenceDisplay")
    figure = plt.figure(figsize=(1.0 + 4.5 * number, 4.0), layout="constrained")
    return list(figure.subplots(1, number, squeeze=False)[0])
