"""Weights along a path of penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lessnaive.models.weighted.barista import SHRINK_TO
from lessnaive.models.weighted.barista_cv import BaristaNBCV
from lessnaive.plot.axes import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["PathDisplay"]


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

    def __init__(
        self,
        *,
        l1: ArrayLike,
        weights: ArrayLike,
        columns: Sequence[str],
        target: float = 0.0,
        chosen: float | None = None,
        title: str = "",
    ) -> None:
        self.l1 = l1
        self.weights = weights
        self.columns = columns
        self.target = target
        self.chosen = chosen
        self.title = title

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
        if not isinstance(estimator, BaristaNBCV):
            raise TypeError(
                f"PathDisplay draws the path of a BaristaNBCV, got {type(estimator).__name__}."
            )
        check_is_fitted(estimator)
        names = list(estimator.scorecard_.schema.names)
        classes = estimator.classes_.tolist()
        if class_ is not None and class_ not in classes:
            raise ValueError(f"class_ must be one of the classes {classes}, got {class_!r}.")
        place = len(classes) - 1 if class_ is None else classes.index(class_)
        path = estimator.path_
        row = int(np.flatnonzero(path.l2 == estimator.l2_)[0])
        display = cls(
            l1=path.l1,
            weights=path.weights[row, :, place],
            columns=names,
            target=SHRINK_TO[estimator.shrink_to],
            chosen=estimator.l1_,
            title=f"weights for {classes[place]} at l2 = {estimator.l2_:g}",
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
        if ax is None:
            plt = import_pyplot("PathDisplay")
            ax = plt.subplots(figsize=(8.0, 4.4), layout="constrained")[1]
        self.ax_ = cast("Axes", ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self._draw_lines(n_names)
        self._scale()
        self.ax_.axhline(self.target, color="black", linewidth=0.8, linestyle=":")
        self.chosen_ = None
        if self.chosen is not None:
            self.chosen_ = self.ax_.axvline(
                self.chosen, color="black", linestyle="--", label=f"chosen: {self.chosen:.3g}"
            )
        self.ax_.set(xlabel="l1", ylabel="weight", title=self.title)
        self.legend_ = self.ax_.legend(
            loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small"
        )
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
                label=name if place in named else None,
            )[0]
            for place, name in enumerate(self.columns)
        ]

    def _scale(self) -> None:
        """Set a logarithmic scale from strong to weak, on which 0 has its place too."""
        l1 = np.asarray(self.l1, dtype=np.float64)
        if (l1 > 0).all():
            self.ax_.set_xscale("log")
        elif l1.any():
            self.ax_.set_xscale("symlog", linthresh=float(l1[l1 > 0].min()))
        self.ax_.invert_xaxis()
