"""Cross-validated scores over a grid of penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.models.weighted.barista_cv import BaristaNBCV
from lessnaive.plot.axes import check_drawable, import_pyplot, write_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["CVSurfaceDisplay"]

# What is shown: a name, and whether it is the score or the score with its sign changed.
_MEASURES = {
    "log_loss": ("log-loss", -1),
    "deviance": ("deviance", -1),
    "brier": ("Brier score", -1),
    "zero_one": ("share of wrong rows", -1),
    "accuracy": ("accuracy", 1),
    "auc": ("AUC", 1),
}
_MARKS: dict[str, dict[str, Any]] = {
    "best": {"marker": "o", "markersize": 27},
    "one standard error": {"marker": "D", "markersize": 21},
    "chosen": {"marker": "s", "markersize": 33, "markeredgewidth": 2.5},
}


@dataclass(kw_only=True, eq=False, repr=False)
class CVSurfaceDisplay:
    """Mean scores on held-out rows for all pairs of penalties, with the chosen one marked.

    It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    l1 : array of shape (n_l1,)
        The values of l1.
    l2 : array of shape (n_l2,)
        The values of l2.
    scores : array of shape (n_l2, n_l1)
        What is drawn.
    name : str, default="score"
        Name of the scores.
    larger_is_better : bool, default=True
        Whether good scores are large.
    marks : dict of str to tuple (place of l2, place of l1), optional
        Pairs to mark: "best", "one standard error" and "chosen".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the scores are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    image_ : matplotlib AxesImage
        The heat map: good scores are bright.
    texts_ : list of matplotlib Text
        The scores as numbers.
    marks_ : dict of str to matplotlib Line2D
        The marks.
    legend_ : matplotlib Legend
        What the marks mean.
    colorbar_ : matplotlib Colorbar
        The scale of the colours.

    Examples
    --------
    >>> from lessnaive import BaristaNBCV
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import CVSurfaceDisplay
    >>> X, y = load_penguins()
    >>> display = CVSurfaceDisplay.from_estimator(BaristaNBCV(n_l1=5).fit(X, y))
    >>> sorted(display.marks)
    ['best', 'chosen', 'one standard error']
    """

    l1: ArrayLike
    l2: ArrayLike
    scores: ArrayLike
    name: str = "score"
    larger_is_better: bool = True
    marks: dict[str, tuple[int, int]] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: BaristaNBCV, *, cmap: Any = "viridis", ax: Axes | None = None
    ) -> Self:
        """Draw the scores of a fitted model.

        Parameters
        ----------
        estimator : BaristaNBCV
            A fitted model.
        cmap : str or matplotlib Colormap, default="viridis"
            Colours from bad to good.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CVSurfaceDisplay
        """
        check_drawable(estimator, BaristaNBCV, "CVSurfaceDisplay draws the scores of a BaristaNBCV")
        path = estimator.path_
        name, sign = _MEASURES[estimator.scoring]
        display = cls(
            l1=path.l1,
            l2=path.l2,
            scores=sign * path.scores,
            name=name,
            larger_is_better=sign > 0,
            marks={
                "best": path.choose("best"),
                "one standard error": path.choose("one_se"),
                "chosen": path.choose(estimator.rule),
            },
        )
        return display.plot(cmap=cmap, ax=ax)

    def plot(self, *, cmap: Any = "viridis", ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        cmap : str or matplotlib Colormap, default="viridis"
            Colours from bad to good.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CVSurfaceDisplay
            The display itself.
        """
        import_pyplot("CVSurfaceDisplay")
        import matplotlib as mpl

        scores = np.asarray(self.scores, dtype=np.float64)
        if ax is None:
            ax = _new_axes(*scores.shape)
        self.ax_ = ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        colours = mpl.colormaps.get_cmap(cmap)
        self.image_ = self.ax_.imshow(
            scores, cmap=colours if self.larger_is_better else colours.reversed(), aspect="auto"
        )
        written = [
            ["" if np.isnan(score) else f"{score:.3f}" for score in line]
            for line in scores.tolist()
        ]
        self.texts_ = write_cells(self.ax_, self.image_, written)
        l1, l2 = np.asarray(self.l1).tolist(), np.asarray(self.l2).tolist()
        turned: dict[str, Any] = {}
        if max(len(_penalty(value)) for value in l1) > 4:
            turned = {"rotation": 40, "ha": "right"}
        self.ax_.set_xticks(np.arange(len(l1)), [_penalty(value) for value in l1], **turned)
        self.ax_.set_yticks(np.arange(len(l2)), [_penalty(value) for value in l2])
        self.ax_.set(xlabel="penalty l1", ylabel="penalty l2")
        self.ax_.set_title(f"{self.name} of held-out rows", pad=28 if self.marks else None)
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, label=self.name)
        self._draw_marks()
        return self

    def _draw_marks(self) -> None:
        self.marks_: dict[str, Line2D] = {}
        for name, (row, column) in (self.marks or {}).items():
            (self.marks_[name],) = self.ax_.plot(
                column,
                row,
                linestyle="",
                color="red",
                markerfacecolor="none",
                label=name,
                **_MARKS.get(name, {}),
            )
        if self.marks_:
            self.legend_ = self.ax_.legend(
                loc="lower center",
                bbox_to_anchor=(0.5, 1.0),
                ncols=3,
                frameon=False,
                markerscale=0.35,
            )


def _penalty(value: float) -> str:
    """Write a penalty, without an exponent unless it is tiny."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0e}" if 0 < value < 1e-4 else f"{value:.3g}"


def _new_axes(n_l2: int, n_l1: int) -> Axes:
    plt = import_pyplot("CVSurfaceDisplay")
    size = (min(2.0 + 0.62 * n_l1, 16.0), min(1.8 + 0.5 * n_l2, 16.0))
    _, ax = plt.subplots(figsize=size, layout="constrained")
    return cast("Axes", ax)
