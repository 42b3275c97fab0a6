"""Coefficients along a path of penalties, from naive Bayes to maximum likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.models.logistic.nb_logistic_cv import NBLogisticCV
from lessnaive.plot.axes import (
    check_drawable,
    colours,
    legend_beside,
    legend_name,
    mark_chosen,
    new_axes,
    plain_text,
    scale_penalties,
)
from lessnaive.plot.linear import choose_output, design_scale, is_naive_bayes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["LogisticPathDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticPathDisplay:
    """The coefficients of a linear model against the penalty, from strong to weak.

    At the left all are at their targets, such as naive Bayes, which dots mark; at the right they
    are near those of maximum likelihood. It is best made with :meth:`from_estimator`. The arguments
    are kept as attributes.

    Parameters
    ----------
    lams : array of shape (n_lams,)
        The penalties, from strong to weak.
    coefficients : array of shape (n_lams, n_design)
        The coefficients at each of them.
    targets : array of shape (n_design,)
        Where they are shrunk to.
    names : sequence of str
        Names of the design columns.
    target_name : str, default="naive Bayes"
        What the targets are.
    chosen : float, optional
        The penalty that was chosen.
    title : str, default=""
        What is written above.
    unit : str, default="unit"
        The step of a column that a coefficient is for.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the lines are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The lines, by design column.
    targets_ : list of matplotlib Line2D
        The dots at the targets, by design column.
    chosen_ : matplotlib Line2D or None
        The line at the chosen penalty.
    legend_ : matplotlib Legend
        Names of the columns that move farthest, in the order of their lines at the right.

    Examples
    --------
    >>> from lessnaive import NBLogisticCV
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import LogisticPathDisplay
    >>> X, y = load_penguins()
    >>> model = NBLogisticCV(n_lams=10, cv=3).fit(X, y)
    >>> display = LogisticPathDisplay.from_estimator(model, X, class_="Gentoo")
    >>> len(display.lines_)
    9
    """

    lams: ArrayLike
    coefficients: ArrayLike
    targets: ArrayLike
    names: Sequence[str]
    target_name: str = "naive Bayes"
    chosen: float | None = None
    title: str = ""
    unit: str = "unit"

    @classmethod
    def from_estimator(
        cls,
        estimator: NBLogisticCV,
        X: Any = None,
        *,
        class_: Any = None,
        n_names: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        estimator : NBLogisticCV
            A fitted model.
        X : table of shape (n_samples, n_features), optional
            Rows, such as those of training: coefficients are shown per standard deviation of their
            column in these. Without rows they are per unit of the column, which makes columns in
            different units hard to compare.
        class_ : label of a class, optional
            The class whose coefficients are drawn; by default the last one.
        n_names : int, default=10
            Number of columns that are named and coloured: those that move farthest.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        LogisticPathDisplay
        """
        check_drawable(
            estimator, NBLogisticCV, "LogisticPathDisplay draws the path of an NBLogisticCV"
        )
        output = choose_output(estimator, class_)
        scale = output.sign * design_scale(estimator, X)
        path = estimator.path_
        display = cls(
            lams=path.lams,
            coefficients=scale * path.coef[:, output.place],
            targets=scale * estimator.target_coef_[output.place],
            names=estimator.design_names_,
            target_name="naive Bayes" if is_naive_bayes(estimator) else "target",
            chosen=estimator.lam_,
            title=output.title,
            unit="unit" if X is None else "standard deviation",
        )
        return display.plot(n_names=n_names, ax=ax)

    def plot(self, *, n_names: int = 10, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        n_names : int, default=10
            Number of columns that are named and coloured: those that move farthest.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        LogisticPathDisplay
            The display itself.
        """
        self.ax_ = new_axes(type(self).__name__, 8.0, 4.6) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        lams = np.asarray(self.lams, dtype=np.float64)
        scale_penalties(self.ax_, lams)
        if lams.max() > lams.min():
            self.ax_.set_xlim(lams.max(), lams.min())  # from strong to weak
        self.ax_.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
        named = self._draw_lines(n_names)
        handles = [self.lines_[place] for place in named]
        self.chosen_ = mark_chosen(self.ax_, self.chosen)
        if self.chosen_ is not None:
            handles.append(self.chosen_)
        self.ax_.set(xlabel="penalty λ", ylabel=f"coefficient per {self.unit}")
        self.ax_.set_title(plain_text(self.title))
        self.ax_.set_title(self.target_name, loc="left", fontsize="small", color="0.35")
        self.ax_.set_title("maximum likelihood", loc="right", fontsize="small", color="0.35")
        self.legend_ = legend_beside(self.ax_, handles=handles)
        return self

    def _draw_lines(self, n_names: int) -> list[int]:
        """Draw the lines and the dots; return the columns to name, from the top at the right."""
        lams = np.asarray(self.lams, dtype=np.float64)
        coefficients, targets = np.asarray(self.coefficients), np.asarray(self.targets)
        away = np.abs(coefficients - targets).max(axis=0)
        farthest = np.argsort(-away, kind="stable")[:n_names].tolist()
        named: list[int] = sorted(farthest, key=lambda place: -coefficients[-1, place])
        shades: dict[int, Any] = dict(zip(named, colours(len(named), None), strict=True))
        self.lines_: list[Line2D] = []
        self.targets_: list[Line2D] = []
        for place, name in enumerate(self.names):
            style = {"color": shades.get(place, "0.8"), "zorder": 2 if place in shades else 1}
            line = self.ax_.plot(lams, coefficients[:, place], label=legend_name(name), **style)[0]
            dot = self.ax_.plot(lams[0], targets[place], "o", markersize=4, clip_on=False, **style)
            self.lines_.append(line)
            self.targets_.append(dot[0])
        return named
