"""The path of stagewise naive Bayes as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.stagewise.path import StagewisePath
from lessnaive.models.stagewise.stagewise import StagewiseNB
from lessnaive.plot.axes import check_drawable, import_pyplot, legend_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

__all__ = ["StagewisePathDisplay"]

# Columns that have a colour and a name; the others are thin and grey.
_NAMED = 10


@dataclass(kw_only=True, eq=False, repr=False)
class StagewisePathDisplay:
    """Levels of the columns against the steps, with training error, deviance and AIC below.

    It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    path : StagewisePath
        The models on the path.
    names : sequence of str
        Names of the columns.
    n_levels : int
        The highest level.
    chosen : int, optional
        Place of the chosen model on the path.

    Attributes
    ----------
    figure_ : matplotlib Figure or SubFigure
        The figure.
    levels_ax_ : matplotlib Axes
        The upper axes: the share of each column's way that is done.
    error_ax_ : matplotlib Axes
        The lower axes: the training error.
    deviance_ax_ : matplotlib Axes
        The second axes there, of deviance and AIC.
    level_lines_ : dict of str to matplotlib Line2D
        The lines of the columns that leave level 0, by name.
    error_line_, deviance_line_, aic_line_ : matplotlib Line2D
        The lines below.
    chosen_lines_ : list of matplotlib Line2D
        Where the chosen model is; empty if it is not given.
    legends_ : list of matplotlib Legend
        The names of the lines above and below.

    See Also
    --------
    lessnaive.StagewiseNB : The classifier.

    Examples
    --------
    >>> from lessnaive import StagewiseNB
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import StagewisePathDisplay
    >>> X, y = load_penguins()
    >>> display = StagewisePathDisplay.from_estimator(StagewiseNB().fit(X, y))
    >>> sorted(display.level_lines_)
    ['bill_depth_mm', 'bill_length_mm', 'body_mass_g', 'flipper_length_mm', 'island', 'year']
    """

    path: StagewisePath
    names: Sequence[str]
    n_levels: int
    chosen: int | None = None

    @classmethod
    def from_estimator(cls, estimator: StagewiseNB, *, axes: Sequence[Axes] | None = None) -> Self:
        """Draw the path of a fitted classifier.

        Parameters
        ----------
        estimator : StagewiseNB
            A fitted classifier.
        axes : sequence of two matplotlib Axes, optional
            Where to draw: above and below. By default a new figure.

        Returns
        -------
        StagewisePathDisplay
        """
        check_drawable(
            estimator, StagewiseNB, "StagewisePathDisplay draws the path of a StagewiseNB"
        )
        display = cls(
            path=estimator.path_,
            names=estimator.scorecard_.schema.names,
            n_levels=estimator.n_levels_,
            chosen=estimator.chosen_,
        )
        return display.plot(axes=axes)

    def plot(self, *, axes: Sequence[Axes] | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, optional
            Where to draw: above and below. By default a new figure.

        Returns
        -------
        StagewisePathDisplay
            The display itself.
        """
        self.levels_ax_, self.error_ax_ = _new_axes() if axes is None else axes
        self.figure_: Figure | SubFigure = self.levels_ax_.figure
        self.legends_: list[Legend] = []
        self._draw_levels()
        self._draw_measures()
        self.chosen_lines_: list[Line2D] = []
        if self.chosen is not None:
            self.chosen_lines_ = [
                axis.axvline(self.chosen, color="black", linestyle=":", linewidth=1.0, zorder=0)
                for axis in (self.levels_ax_, self.error_ax_)
            ]
        return self

    def _draw_levels(self) -> None:
        shares = self.path.levels / self.n_levels
        moved = np.flatnonzero(shares[-1] > 0)
        # Those that go furthest are named, in the order in which they leave level 0.
        furthest = moved[np.argsort(-shares[-1, moved], kind="stable")][:_NAMED]
        start = {int(j): int((shares[:, j] > 0).argmax()) for j in moved}
        named = sorted(furthest.tolist(), key=lambda j: (start[j], j))
        self.level_lines_: dict[str, Line2D] = {}
        for j in sorted(set(moved.tolist()) - set(named)):
            self._draw_level(j, shares[:, j], color="0.75", linewidth=0.8)
        for place, j in enumerate(named):
            name = legend_name(self.names[j])
            self._draw_level(j, shares[:, j], color=f"C{place}", label=name)
        self.levels_ax_.set(
            ylabel="share of the way to\nthe per-class estimate", ylim=(-0.03, 1.03)
        )
        self.levels_ax_.set_title("columns enter step by step")
        self.levels_ax_.tick_params(labelbottom=False)
        if named:
            legend = self.levels_ax_.legend(
                loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small"
            )
            self.legends_.append(legend)

    def _draw_level(self, j: int, shares: NDArray[np.float64], **style: object) -> None:
        (line,) = self.levels_ax_.plot(shares, drawstyle="steps-post", **style)  # type: ignore[arg-type]
        self.level_lines_[self.names[j]] = line

    def _draw_measures(self) -> None:
        axis, path = self.error_ax_, self.path
        (self.error_line_,) = axis.plot(path.error, color="C0", label="training error")
        axis.set(xlabel="step", ylabel="training error")
        axis.set_xlim(self.levels_ax_.get_xlim())
        axis.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
        self.deviance_ax_ = axis.twinx()
        (self.deviance_line_,) = self.deviance_ax_.plot(
            path.deviance, color="C1", linestyle="--", label="deviance"
        )
        (self.aic_line_,) = self.deviance_ax_.plot(path.aic, color="C3", label="AIC")
        self.deviance_ax_.set_ylabel("deviance and AIC per row")
        lines = [self.error_line_, self.deviance_line_, self.aic_line_]
        legend = axis.legend(
            handles=lines,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=3,
            frameon=False,
            fontsize="small",
        )
        self.legends_.append(legend)


def _new_axes() -> Sequence[Axes]:
    plt = import_pyplot("StagewisePathDisplay")
    _, axes = plt.subplots(2, 1, figsize=(7.5, 6.0), layout="constrained")
    out: Sequence[Axes] = axes.tolist()
    return out
