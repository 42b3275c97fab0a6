"""The path of GroupLassoNB as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.models import GroupLassoNB
from lessnaive.plot.axes import (
    check_drawable,
    colours,
    legend_beside,
    legend_name,
    mark_chosen,
    new_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

__all__ = ["GroupPathDisplay"]

# More columns than this cannot be told apart by colour: the farthest ones are named.
_MOST_NAMED = 10


@dataclass(kw_only=True, eq=False, repr=False)
class GroupPathDisplay:
    """Distance of each column from the pooled estimate, against the penalty.

    It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    lam : array of shape (n_lams,)
        The penalties.
    norms : array of shape (n_lams, n_features)
        Distance of each column from its pooled estimate.
    names : sequence of str
        Names of the columns.
    chosen : float, optional
        The penalty that was chosen.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the lines are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The lines, by column.
    chosen_ : matplotlib Line2D or None
        The vertical line at the penalty that was chosen.
    legend_ : matplotlib Legend
        Names of the columns that go farthest, in the order of their lines at the right.

    Examples
    --------
    >>> from lessnaive import GroupLassoNB
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import GroupPathDisplay
    >>> X, y = load_penguins()
    >>> display = GroupPathDisplay.from_estimator(GroupLassoNB().fit(X, y))
    >>> display.lines_[0].get_label()
    'island'
    """

    lam: ArrayLike
    norms: ArrayLike
    names: Sequence[str]
    chosen: float | None = None

    @classmethod
    def from_estimator(
        cls, estimator: GroupLassoNB, *, cmap: Any = None, ax: Axes | None = None
    ) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        estimator : GroupLassoNB
            A model fitted with ``lam="aic"`` or ``"cv"``.
        cmap : str or matplotlib Colormap, optional
            Colours of the columns.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        GroupPathDisplay
        """
        check_drawable(estimator, GroupLassoNB, "GroupPathDisplay draws the path of a GroupLassoNB")
        path = estimator.path_
        if len(path.lam) < 2:
            raise ValueError(
                "The model has one penalty and no path: fit it with lam='aic' or lam='cv', on a "
                "table in which some column says something."
            )
        names = list(estimator.scorecard_.schema.names)
        display = cls(lam=path.lam, norms=path.norms, names=names, chosen=estimator.lam_)
        return display.plot(cmap=cmap, ax=ax)

    def plot(self, *, cmap: Any = None, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        cmap : str or matplotlib Colormap, optional
            Colours of the columns.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        GroupPathDisplay
            The display itself.
        """
        lam, norms = np.asarray(self.lam), np.asarray(self.norms)
        self.ax_ = new_axes(type(self).__name__, 8.0) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        shades = colours(norms.shape[1], cmap)
        self.lines_: list[Line2D] = [
            self.ax_.plot(lam, norm, color=shade, label=legend_name(name))[0]
            for norm, shade, name in zip(norms.T, shades, self.names, strict=True)
        ]
        self.ax_.set(
            xscale="log",
            xlabel="penalty λ",
            ylabel="distance from the pooled estimate",
            xlim=(lam.max(), lam.min()),  # from no column to all of them
        )
        self.ax_.set_ylim(bottom=0.0)
        self.ax_.set_title("from one estimate for all classes to one for each")
        farthest = np.argsort(-norms.max(axis=0), kind="stable")[:_MOST_NAMED]
        named = sorted(farthest.tolist(), key=lambda j: -norms[-1, j])
        handles = [self.lines_[j] for j in named]
        self.chosen_ = mark_chosen(self.ax_, self.chosen)
        if self.chosen_ is not None:
            handles.append(self.chosen_)
        self.legend_: Legend = legend_beside(self.ax_, handles=handles)
        return self
