"""Importances of columns as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.models.base import ScorecardClassifier
from lessnaive.plot.axes import check_drawable, new_axes, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["ImportanceDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class ImportanceDisplay:
    """How far each term of a model moves the scores away from those of the average training row.

    It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    importances : array of shape (n_terms,)
        The mean absolute centred contributions, see ``Scorecard.importance``.
    names : sequence of str
        Names of the terms: of columns, or of pairs of them.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the bars are, the first one on top.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    bars_ : matplotlib BarContainer
        The bars.

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import ImportanceDisplay
    >>> X, y = load_penguins()
    >>> display = ImportanceDisplay.from_estimator(NaiveBayes(numeric="gaussian").fit(X, y))
    >>> display.names[:2]
    ['flipper_length_mm', 'bill_length_mm']
    """

    importances: ArrayLike
    names: Sequence[str]

    @classmethod
    def from_estimator(
        cls,
        estimator: ScorecardClassifier,
        *,
        max_terms: int = 40,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the importances of a fitted model, the largest first.

        Parameters
        ----------
        estimator : classifier of lessnaive
            A fitted model.
        max_terms : int, default=40
            Most terms that are drawn.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            For ``Axes.barh``.

        Returns
        -------
        ImportanceDisplay
        """
        check_drawable(
            estimator, ScorecardClassifier, "ImportanceDisplay draws a classifier of lessnaive"
        )
        card = estimator.scorecard_
        order = np.argsort(-card.importance, kind="stable")[:max_terms]
        names = [card.terms[place].name for place in order]
        return cls(importances=card.importance[order], names=names).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **kwargs
            For ``Axes.barh``.

        Returns
        -------
        ImportanceDisplay
            The display itself.
        """
        places = np.arange(len(self.names))
        height = min(1.2 + 0.3 * len(places), 16.0)
        self.ax_ = new_axes("ImportanceDisplay", height=height) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.bars_ = self.ax_.barh(places, np.asarray(self.importances), **kwargs)
        self.ax_.set_yticks(places, [plain_text(name) for name in self.names])
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel="mean absolute centred contribution (nats)")
        self.ax_.set_title("how far columns move the scores")
        return self
