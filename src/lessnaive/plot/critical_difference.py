"""Average ranks of methods over many tables, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.plot.axes import new_axes
from lessnaive.stats import critical_difference, friedman

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["CriticalDifferenceDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class CriticalDifferenceDisplay:
    """Methods on a line by their average rank; bars join those that do not differ [1]_.

    It is best made with :meth:`from_scores`. The arguments are kept as attributes.

    Parameters
    ----------
    ranks : array-like of shape (n_methods,)
        Average rank of each method, 1 the best.
    names : sequence of str
        Names of the methods.
    n_tables : int
        Number of tables.
    alpha : float, default=0.05
        Level of Nemenyi's test.

    Attributes
    ----------
    critical_difference_ : float
        How far ranks must be apart for methods to differ.
    groups_ : list of tuple of str
        Methods that bars join, the best first; groups within others are left out.
    ax_ : matplotlib Axes
        Where the diagram is.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.plot import CriticalDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.uniform(size=(20, 1)) + rng.normal([0.0, 0.05, 0.5], 0.1, size=(20, 3))
    >>> display = CriticalDifferenceDisplay.from_scores(losses, higher_is_better=False)
    >>> display.groups_
    [('method 0', 'method 1')]
    """

    ranks: ArrayLike
    names: Sequence[str]
    n_tables: int
    alpha: float = 0.05

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        *,
        higher_is_better: bool = True,
        alpha: float = 0.05,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the diagram of a matrix of scores.

        Parameters
        ----------
        scores : array-like or data frame of shape (n_tables, n_methods)
            A score for each table and method. The columns of a data frame name the methods.
        higher_is_better : bool, default=True
            Whether larger scores are better; False for losses.
        alpha : float, default=0.05
            Level of Nemenyi's test.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            For the bars, as ``Axes.plot`` takes them.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        test = friedman(scores, higher_is_better=higher_is_better)
        made = cls(ranks=test.ranks, names=test.names, n_tables=test.n_tables, alpha=alpha)
        return made.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            For the bars, as ``Axes.plot`` takes them.

        Returns
        -------
        CriticalDifferenceDisplay
            The display itself.
        """
        ranks = np.asarray(self.ranks, dtype=np.float64)
        order = np.argsort(ranks, kind="stable")
        ranks, names = ranks[order], [self.names[place] for place in order]
        self.critical_difference_ = critical_difference(len(ranks), self.n_tables, self.alpha)
        spans = _spans(ranks, self.critical_difference_)
        self.groups_ = [tuple(names[first : last + 1]) for first, last in spans]
        n_left = (len(names) + 1) // 2
        depth = 1.0 + 0.35 * len(spans)  # labels are below the bars
        height = 1.2 + 0.3 * (n_left + len(spans))
        self.ax_ = new_axes("CriticalDifferenceDisplay", 8.0, height) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        low, high = 1.0, float(len(ranks))
        self._draw_axis(low, high)
        for place, (rank, name) in enumerate(zip(ranks, names, strict=True)):
            left = place < n_left
            line = place if left else len(names) - 1 - place
            y = -(depth + 0.6 * line)
            edge = low - 0.1 if left else high + 0.1
            self.ax_.plot([rank, rank, edge], [0, y, y], color="black", linewidth=0.8)
            text = f"{name}  {rank:.2f}"
            side = "right" if left else "left"
            self.ax_.text(edge, y, f" {text} ", ha=side, va="center", fontsize="small")
        style = {"color": "tab:red", "linewidth": 4, "solid_capstyle": "round", **kwargs}
        for place, (first, last) in enumerate(spans):
            y = -(0.4 + 0.35 * place)
            self.ax_.plot([ranks[first] - 0.03, ranks[last] + 0.03], [y, y], **style)
        margin = 0.35 * (high - low)
        self.ax_.set_xlim(low - 0.1 - margin, high + 0.1 + margin)
        self.ax_.set_ylim(-(depth + 0.6 * n_left), 1.9)
        self.ax_.set_title("average ranks")
        self.ax_.set_axis_off()
        return self

    def _draw_axis(self, low: float, high: float) -> None:
        """Draw the line of ranks, and above it the critical difference."""
        ax = self.ax_
        ax.plot([low, high], [0, 0], color="black", linewidth=1.0)
        for rank in range(int(low), int(high) + 1):
            ax.plot([rank, rank], [0, 0.15], color="black", linewidth=1.0)
            ax.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize="small")
        end = low + self.critical_difference_
        ax.plot([low, end], [1.2, 1.2], color="black", linewidth=1.5)
        for x in (low, end):
            ax.plot([x, x], [1.1, 1.3], color="black", linewidth=1.5)
        text = f"critical difference {self.critical_difference_:.2f}, {self.n_tables} tables"
        ax.text(low, 1.4, text, ha="left", va="bottom", fontsize="small")


def _spans(ranks: np.ndarray, difference: float) -> list[tuple[int, int]]:
    """First and last place of the largest groups of sorted ranks that are closer than that."""
    spans: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="left")) - 1
        if last > first and (not spans or last > spans[-1][1]):
            spans.append((first, last))
    return spans
