"""How a search for weights goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lessnaive.models.fractional.fractional import FractionalNB
from lessnaive.plot.axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["SearchDisplay"]

Floats = NDArray[np.float64]

# A search may begin far above everything that matters: the axis ends above all but these shares.
_SHOWN = 0.98


@dataclass(kw_only=True, eq=False, repr=False)
class SearchDisplay:
    """The criterion of :class:`~lessnaive.FractionalNB` by iteration, for several solvers.

    A thin line is where a search is, with a gap where it starts anew, and a thick one the best that
    it has found so far. It is best made with
    :meth:`from_estimator`, or :meth:`from_models` for several. The arguments are kept as
    attributes.

    Parameters
    ----------
    objectives : mapping of str to array
        The criterion at each iteration, by the name of the search.
    runs : mapping of str to array
        The number of the descent that each iteration belongs to.
    null_cost : float, default=1.0
        The criterion if all weights are zero, which is drawn as 1.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure or SubFigure
        Their figure.
    lines_ : dict of str to matplotlib Line2D
        The best so far, by the name of the search.

    Examples
    --------
    >>> from lessnaive import FractionalNB
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import SearchDisplay
    >>> X, y = load_penguins()
    >>> models = {
    ...     name: FractionalNB(p=0.5, solver=name).fit(X, y) for name in ("pgdmb-ms", "pgdmb-vns")
    ... }
    >>> display = SearchDisplay.from_models(models)
    >>> display.ax_.get_xlabel()
    'iteration'
    """

    objectives: Mapping[str, Floats]
    runs: Mapping[str, Floats]
    null_cost: float = 1.0

    @classmethod
    def from_estimator(cls, estimator: FractionalNB, *, ax: Axes | None = None) -> Self:
        """Draw the history of a fitted model.

        Parameters
        ----------
        estimator : FractionalNB
            A fitted model.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        SearchDisplay
        """
        return cls.from_models({type(estimator).__name__: estimator}, ax=ax)

    @classmethod
    def from_models(cls, models: Mapping[str, FractionalNB], *, ax: Axes | None = None) -> Self:
        """Draw the histories of fitted models.

        Parameters
        ----------
        models : mapping of str to FractionalNB
            Models that were fitted to the same rows, by a name each.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        SearchDisplay
        """
        if not models:
            raise ValueError("There are no models to draw.")
        for name, model in models.items():
            if not isinstance(model, FractionalNB):
                raise TypeError(f"{name} must be a FractionalNB, got {type(model).__name__}.")
            check_is_fitted(model)
        first = next(iter(models.values()))
        display = cls(
            objectives={name: model.history_["objective"] for name, model in models.items()},
            runs={name: model.history_["run"] for name, model in models.items()},
            null_cost=first.null_cost_,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        SearchDisplay
            The display itself.
        """
        if ax is None:
            ax = new_axes("SearchDisplay", height=4.0)
        self.ax_ = ax
        self.figure_: Figure | SubFigure = ax.figure
        self.lines_: dict[str, Line2D] = {}
        highest, lowest = -np.inf, np.inf
        for name, values in self.objectives.items():
            heights = np.asarray(values) / self.null_cost
            iterations = np.arange(len(heights), dtype=np.float64)
            (best,) = ax.plot(iterations, np.minimum.accumulate(heights), linewidth=2.0, label=name)
            new = 1 + np.flatnonzero(np.diff(self.runs[name]))
            ax.plot(
                np.insert(iterations, new, np.nan),
                np.insert(heights, new, np.nan),
                linewidth=0.7,
                alpha=0.7,
                color=best.get_color(),
            )
            self.lines_[name] = best
            highest = max(highest, float(np.quantile(heights, _SHOWN)))
            lowest = min(lowest, float(heights.min()))
        room = 0.05 * max(highest - lowest, 1e-9)
        ax.set(
            xlabel="iteration",
            ylabel="criterion / criterion of no columns",
            title="search for weights",
            ylim=(lowest - room, highest + room),
        )
        ax.grid(alpha=0.3)
        ax.legend()
        return self
