"""Models that were compared, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.arena.comparison import TITLES, Comparison
from lessnaive.plot.axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["ComparisonDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class ComparisonDisplay:
    """Scores of models over all splits: each split a dot, the mean a larger one.

    It is best made with :meth:`from_comparison`. The arguments are kept as attributes.

    Parameters
    ----------
    scores : array-like of shape (n_models, n_splits)
        The scores.
    names : sequence of str
        Names of the models, the first one on top.
    worse : sequence of bool
        Which are worse than the best; they are grey.
    title : str, default=""
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the dots are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.

    Examples
    --------
    >>> import lessnaive
    >>> from lessnaive.plot import ComparisonDisplay
    >>> X, y = lessnaive.datasets.load_penguins()
    >>> found = lessnaive.compare(X, y, models=["NaiveBayes", "class frequencies"], repeats=1)
    >>> display = ComparisonDisplay.from_comparison(found)
    >>> display.names
    ['NaiveBayes', 'class frequencies']
    """

    scores: ArrayLike
    names: Sequence[str]
    worse: Sequence[bool]
    title: str = ""

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        *,
        measure: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what came of a comparison.

        Parameters
        ----------
        comparison : Comparison
            What :func:`~lessnaive.compare` returns.
        measure : str, optional
            What to draw, such as "accuracy"; by default what the models are ordered by.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            For the dots, as ``Axes.scatter`` takes them.

        Returns
        -------
        ComparisonDisplay
        """
        key = comparison.scoring if measure is None else measure
        if key not in comparison.scores:
            raise ValueError(f"measure={key!r} is none of {', '.join(comparison.scores)}.")
        made = cls(
            scores=comparison.scores[key],
            names=[row.model for row in comparison.rows],
            worse=[row.worse for row in comparison.rows],
            title=TITLES[key],
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            For the dots, as ``Axes.scatter`` takes them.

        Returns
        -------
        ComparisonDisplay
            The display itself.
        """
        scores = np.asarray(self.scores, dtype=np.float64)
        height = 1.2 + 0.32 * len(self.names)
        self.ax_ = new_axes("ComparisonDisplay", height=height) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        for place, (own, worse) in enumerate(zip(scores, self.worse, strict=True)):
            colour = "tab:gray" if worse else "tab:blue"
            style = {"s": 12, "alpha": 0.5, "color": colour, "linewidths": 0, **kwargs}
            self.ax_.scatter(own, np.full(len(own), place), **style)
            if not np.isnan(own).all():
                self.ax_.plot(np.nanmean(own), place, "o", color=colour, markersize=8)
        self.ax_.set_yticks(range(len(self.names)), list(self.names))
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel=f"{self.title} (grey: worse than the best)" if self.title else "")
        self.ax_.set_title("models on the same splits")
        self.ax_.grid(axis="x", alpha=0.3)
        return self
