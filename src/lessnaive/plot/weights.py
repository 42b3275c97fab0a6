"""Learned weights as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.models.base import ScorecardClassifier
from lessnaive.models.weighted.barista import SHRINK_TO
from lessnaive.plot.axes import check_drawable, import_pyplot, plain_text, write_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["WeightsDisplay"]

Floats = NDArray[np.float64]

# Name of the weights that all classes share.
_ALL = "all classes"
# So many classes side by side leave room for a number each.
_MOST_WRITTEN = 12
# Width of a character in inches, about.
_CHARACTER = 0.085


@dataclass(kw_only=True, eq=False, repr=False)
class WeightsDisplay:
    """The weight of each column in each class, as colours and numbers.

    It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    weights : array of shape (n_groups, n_columns)
        The weights.
    columns : sequence of str
        Names of the columns.
    groups : sequence of str
        What each row of the weights is for: a class, or all of them.
    center : float, default=0.0
        The weight that has no colour.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the weights are: a line for each column, and the classes side by side.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    image_ : matplotlib AxesImage
        The heat map.
    texts_ : list of matplotlib Text
        The numbers; none if there are more than 12 classes.
    colorbar_ : matplotlib Colorbar
        The scale of the colours.

    Examples
    --------
    >>> from lessnaive import BaristaNB
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import WeightsDisplay
    >>> X, y = load_penguins()
    >>> display = WeightsDisplay.from_estimator(BaristaNB(l1=2.0).fit(X, y))
    >>> display.groups
    ['Adelie', 'Chinstrap', 'Gentoo']
    """

    weights: ArrayLike
    columns: Sequence[str]
    groups: Sequence[str]
    center: float = 0.0

    @classmethod
    def from_estimator(
        cls,
        estimator: ScorecardClassifier,
        *,
        max_columns: int = 40,
        cmap: Any = "RdBu_r",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the weights of a fitted model.

        The colours are neutral at the target of the penalty, which the parameter ``shrink_to`` of
        the model names: 0 for no evidence, 1 for naive Bayes. For models without that parameter,
        whose weights are between 0 and 1, they are neutral at 0.

        Parameters
        ----------
        estimator : classifier of lessnaive with weights
            A fitted model that has ``weights_``: BaristaNB, BaristaNBCV, AttributeWeightedNB,
            FractionalNB, AveragedNB, RelevanceWeightedNB, SelectiveNB or StagewiseNB.
        max_columns : int, default=40
            Most columns that are drawn: those with a weight farthest from the target.
        cmap : str or matplotlib Colormap, default="RdBu_r"
            Colours that diverge from the middle.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        WeightsDisplay
        """
        purpose = "WeightsDisplay draws the weights of a model that has learned some"
        check_drawable(estimator, ScorecardClassifier, purpose)
        if not hasattr(estimator, "weights_"):
            raise TypeError(f"{purpose}, got {type(estimator).__name__}.")
        names = list(estimator.scorecard_.schema.names)
        weights, groups = _rows(estimator)
        center = SHRINK_TO[estimator.get_params().get("shrink_to", "zero")]
        away = np.abs(weights - center).max(axis=0)
        shown = np.sort(np.argsort(-away, kind="stable")[:max_columns])
        display = cls(
            weights=weights[:, shown],
            columns=[names[place] for place in shown],
            groups=groups,
            center=center,
        )
        return display.plot(cmap=cmap, ax=ax)

    def plot(self, *, cmap: Any = "RdBu_r", ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        cmap : str or matplotlib Colormap, default="RdBu_r"
            Colours that diverge from the middle.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        WeightsDisplay
            The display itself.
        """
        weights = np.asarray(self.weights, dtype=np.float64).T
        self.ax_ = _new_axes(self.columns, self.groups) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        most = float(np.abs(weights - self.center).max(initial=0.0)) or 1.0
        self.image_ = self.ax_.imshow(
            weights, cmap=cmap, vmin=self.center - most, vmax=self.center + most, aspect="auto"
        )
        self.texts_ = []
        if weights.shape[1] <= _MOST_WRITTEN:
            written = [[_number(weight) for weight in line] for line in weights.tolist()]
            self.texts_ = write_cells(self.ax_, self.image_, written)
        self.ax_.set_yticks(
            np.arange(len(self.columns)), [plain_text(name) for name in self.columns]
        )
        wide = max(map(len, self.groups)) * _CHARACTER > _width(self.ax_) / len(self.groups)
        self.ax_.set_xticks(
            np.arange(len(self.groups)),
            [plain_text(name) for name in self.groups],
            rotation=90 if wide else 0,
        )
        self.ax_.set(xlabel="class", ylabel="column", title="weights of the columns")
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, label="weight")
        return self


def _rows(estimator: Any) -> tuple[Floats, list[str]]:
    """Return the weights, and what each row of them is for."""
    classes = [str(name) for name in estimator.classes_.tolist()]
    weights = np.atleast_2d(estimator.weights_)
    if estimator.weights_.ndim == 1:
        return weights, [_ALL]
    shared = getattr(estimator, "shared_weights_", None)
    if shared is None:
        return weights, classes
    return np.vstack([weights, shared]), [*classes, _ALL]


def _number(weight: float) -> str:
    """Write a weight; one that is exactly 0 or 1 stands out by having no decimals."""
    return f"{weight:g}" if weight in (0.0, 1.0) else f"{weight:.2f}"


def _width(ax: Axes) -> float:
    """Width in inches."""
    return float(ax.get_window_extent().width / ax.figure.dpi)


def _new_axes(columns: Sequence[str], groups: Sequence[str]) -> Axes:
    plt = import_pyplot("WeightsDisplay")
    names = _CHARACTER * max(map(len, columns))
    size = (min(2.0 + names + 0.8 * len(groups), 16.0), min(1.2 + 0.3 * len(columns), 16.0))
    _, ax = plt.subplots(figsize=size, layout="constrained")
    return cast("Axes", ax)
