"""Coefficients beside where they are shrunk to, as a forest plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.models.logistic.problem import FittedLogistic
from lessnaive.plot.axes import check_drawable, legend_beside, new_axes, plain_text
from lessnaive.plot.linear import choose_output, design_scale, is_naive_bayes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["CoefficientsDisplay"]

# Width of a character in inches, about.
_CHARACTER = 0.085


@dataclass(kw_only=True, eq=False, repr=False)
class CoefficientsDisplay:
    """The coefficients of a linear model beside their targets, one line for each.

    A full dot is the coefficient, an empty one its target, such as naive Bayes; a line between them
    shows how far the data have moved it. It is best made with :meth:`from_estimator`. The arguments
    are kept as attributes.

    Parameters
    ----------
    coefficients : array of shape (n_design,)
        The coefficients.
    targets : array of shape (n_design,)
        Where they are shrunk to.
    names : sequence of str
        Names of the design columns.
    target_name : str, default="naive Bayes"
        What the targets are.
    title : str, default=""
        What is written above.
    unit : str, default="unit"
        The step of a column that a coefficient is for.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the coefficients are, the first one at the top.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    points_ : matplotlib Line2D
        The coefficients.
    targets_ : matplotlib Line2D
        The targets.
    moves_ : matplotlib LineCollection
        The lines between them.

    Examples
    --------
    >>> from lessnaive import NBLogistic
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import CoefficientsDisplay
    >>> X, y = load_penguins()
    >>> model = NBLogistic(lam=5.0).fit(X, y)
    >>> display = CoefficientsDisplay.from_estimator(model, X, class_="Gentoo")
    >>> display.title
    'score of Gentoo'
    """

    coefficients: ArrayLike
    targets: ArrayLike
    names: Sequence[str]
    target_name: str = "naive Bayes"
    title: str = ""
    unit: str = "unit"

    @classmethod
    def from_estimator(
        cls,
        estimator: FittedLogistic,
        X: Any = None,
        *,
        class_: Any = None,
        max_columns: int = 40,
        sort: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the coefficients of a fitted model.

        Parameters
        ----------
        estimator : NBLogistic or NBLogisticCV
            A fitted model.
        X : table of shape (n_samples, n_features), optional
            Rows, such as those of training: coefficients are shown per standard deviation of their
            column in these. Without rows they are per unit of the column, which makes columns in
            different units hard to compare.
        class_ : label of a class, optional
            The class whose coefficients are drawn; by default the last one.
        max_columns : int, default=40
            Most coefficients that are drawn: those that are largest, or have the largest targets.
        sort : bool, default=True
            Whether they are sorted by their value, or in the order of the table.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CoefficientsDisplay
        """
        check_drawable(
            estimator,
            FittedLogistic,
            "CoefficientsDisplay draws the coefficients of NBLogistic or NBLogisticCV",
        )
        output = choose_output(estimator, class_)
        scale = output.sign * design_scale(estimator, X)
        coefficients = scale * estimator.coef_[output.place]
        targets = scale * estimator.target_coef_[output.place]
        size = np.maximum(np.abs(coefficients), np.abs(targets))
        shown = np.sort(np.argsort(-size, kind="stable")[:max_columns])
        if sort:
            shown = shown[np.argsort(-coefficients[shown], kind="stable")]
        display = cls(
            coefficients=coefficients[shown],
            targets=targets[shown],
            names=[estimator.design_names_[place] for place in shown],
            target_name="naive Bayes" if is_naive_bayes(estimator) else "target",
            title=output.title,
            unit="unit" if X is None else "standard deviation",
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
        CoefficientsDisplay
            The display itself.
        """
        self.ax_ = _new_axes(self.names) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        coefficients, targets = np.asarray(self.coefficients), np.asarray(self.targets)
        places = np.arange(len(self.names))
        self.ax_.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
        self.moves_: LineCollection = self.ax_.hlines(
            places, targets, coefficients, color="0.7", linewidth=2.0, zorder=1
        )
        self.targets_: Line2D = self.ax_.plot(
            targets,
            places,
            linestyle="none",
            marker="o",
            markersize=7,
            markerfacecolor="white",
            markeredgecolor="C1",
            markeredgewidth=1.5,
            label=self.target_name,
        )[0]
        self.points_: Line2D = self.ax_.plot(
            coefficients, places, "o", color="C0", markersize=5, label="model"
        )[0]
        self.ax_.set_yticks(places, labels=[plain_text(name) for name in self.names])
        self.ax_.set_ylim(len(places) - 0.4, -0.6)
        self.ax_.set(xlabel=f"coefficient per {self.unit}", title=plain_text(self.title))
        self.ax_.grid(axis="y", color="0.93")
        self.ax_.set_axisbelow(True)
        legend_beside(self.ax_)
        return self


def _new_axes(names: Sequence[str]) -> Axes:
    labels = _CHARACTER * max((len(plain_text(name)) for name in names), default=0)
    width, height = min(5.5 + labels, 14.0), min(1.3 + 0.25 * len(names), 16.0)
    return new_axes("CoefficientsDisplay", width, height)
