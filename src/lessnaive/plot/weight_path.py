"""Weights along a path of penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.models.weighted.barista import SHRINK_TO
from lessnaive.models.weighted.barista_cv import BaristaNBCV
from lessnaive.plot.axes import (
    check_drawable,
    class_place,
    legend_beside,
    legend_name,
    mark_chosen,
    new_axes,
    plain_text,
    scale_penalties,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["PathDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay:
    """The weights of a class against l1, from strong to weak, with the chosen l1 marked.

    It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    l1 : array of shape (n_l1,)
        The values of l1.
    weights : array of shape (n_l1, n_columns)
        The weights at each of them.
    columns : sequence of str
        Names of the columns.
    target : float, default=0.0
        Where the weights are pulled to.
    chosen : float, optional
        The l1 that was chosen.
    title : str, default=""
        What is written above: the class and l2.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the lines are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The lines, by column.
    chosen_ : matplotlib Line2D or None
        The line at the chosen l1.
    legend_ : matplotlib Legend
        The names of the columns that go farthest.

    Examples
    --------
    >>> from lessnaive import BaristaNBCV
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import PathDisplay
    >>> X, y = load_penguins()
    >>> model = BaristaNBCV(n_l1=5).fit(X, y)
    >>> display = PathDisplay.from_estimator(model, class_="Gentoo")
    >>> len(display.lines_)
    7
    """

    l1: ArrayLike
    weights: ArrayLike
    columns: Sequence[str]
    target: float = 0.0
    chosen: float | None = None
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: BaristaNBCV,
        *,
        class_: Any = None,
        n_names: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the path of a fitted model, at the l2 that was chosen.

        Parameters
        ----------
        estimator : BaristaNBCV
            A fitted model.
        class_ : label of a class, optional
            The class whose weights are drawn; by default the last one.
        n_names : int, default=10
            Number of columns that are named and coloured: those that go farthest.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        PathDisplay
        """
        check_drawable(estimator, BaristaNBCV, "PathDisplay draws the path of a BaristaNBCV")
        names = list(estimator.scorecard_.schema.names)
        classes = estimator.classes_.tolist()
        place = class_place(classes, class_)
        path = estimator.path_
        row = int(np.flatnonzero(path.l2 == estimator.l2_)[0])
        display = cls(
            l1=path.l1,
            weights=path.weights[row, :, place],
            columns=names,
            target=SHRINK_TO[estimator.shrink_to],
            chosen=estimator.l1_,
            title=f"weights for {plain_text(classes[place], 30)} at l2 = {estimator.l2_:g}",
        )
        return display.plot(n_names=n_names, ax=ax)

    def plot(self, *, n_names: int = 10, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        n_names : int, default=10
            Number of columns that are named and coloured: those that go farthest.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        PathDisplay
            The display itself.
        """
        self.ax_ = new_axes("PathDisplay", 8.0, 4.4) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        self._draw_lines(n_names)
        scale_penalties(self.ax_, self.l1)
        self.ax_.invert_xaxis()  # from strong to weak
        self.ax_.axhline(self.target, color="black", linewidth=0.8, linestyle=":")
        self.chosen_ = mark_chosen(self.ax_, self.chosen)
        self.ax_.set(xlabel="l1", ylabel="weight", title=self.title)
        self.legend_ = legend_beside(self.ax_)
        return self

    def _draw_lines(self, n_names: int) -> None:
        import matplotlib as mpl

        weights = np.asarray(self.weights, dtype=np.float64)
        order = np.argsort(-np.abs(weights - self.target).max(axis=0), kind="stable")
        colours: dict[int, Any] = dict.fromkeys(range(len(order)), "0.8")
        palette = mpl.colormaps["tab10" if n_names <= 10 else "tab20"]
        named = order[:n_names]
        colours |= {int(place): palette(rank % palette.N) for rank, place in enumerate(named)}
        marker = "." if len(weights) <= 30 else None
        self.lines_ = [
            self.ax_.plot(
                np.asarray(self.l1),
                weights[:, place],
                color=colours[place],
                marker=marker,
                zorder=2 if place in named else 1,
                label=legend_name(name) if place in named else None,
            )[0]
            for place, name in enumerate(self.columns)
        ]
