"""What a stronger penalty costs, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from lessnaive._sklearn import take_rows
from lessnaive.models.fractional.fractional import FractionalNB
from lessnaive.plot.axes import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["SparsityDisplay"]

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class SparsityDisplay:
    """Compression rate and number of kept columns of :class:`~lessnaive.FractionalNB`.

    Both against the strength of the penalty, with a line for each power. It is best made with
    :meth:`from_estimator` or :meth:`from_table`. The arguments are kept as attributes.

    Parameters
    ----------
    lams : array of shape (n_lams,)
        The strengths, increasing.
    powers : array of shape (n_powers,)
        The powers.
    train, test : array of shape (n_powers, n_lams)
        Compression rates of the rows that were learned from, and of others.
    kept : array of shape (n_powers, n_lams)
        Numbers of columns with a weight above 0.

    Attributes
    ----------
    axes_ : list of two matplotlib Axes
        The compression rate and the kept columns.
    figure_ : matplotlib Figure or SubFigure
        Their figure.

    Examples
    --------
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import SparsityDisplay
    >>> X, y = load_penguins()
    >>> display = SparsityDisplay.from_table(X, y, lams=(0.0, 0.1, 1.0), cv=3)
    >>> display.kept.shape
    (3, 3)
    """

    lams: Floats
    powers: Floats
    train: Floats
    test: Floats
    kept: Floats

    @classmethod
    def from_estimator(cls, estimator: FractionalNB, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Fit models with the parameters of an estimator, and draw the means.

        Parameters
        ----------
        estimator : FractionalNB
            Its parameters; `lam` and `p` are set. It need not be fitted.
        X, y, **options
            As in :meth:`from_table`.

        Returns
        -------
        SparsityDisplay
        """
        return cls.from_table(X, y, estimator=estimator, **options)

    @classmethod
    def from_table(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        estimator: FractionalNB | None = None,
        lams: Sequence[float] = (0.0, 0.01, 0.1, 0.5),
        powers: Sequence[float] = (0.5, 1.0, 2.0),
        cv: int = 5,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Fit models to the folds of a table, and draw the means.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        estimator : FractionalNB, optional
            Its parameters; `lam` and `p` are set.
        lams : sequence of float, default=(0.0, 0.01, 0.1, 0.5)
            The strengths of the penalty.
        powers : sequence of float, default=(0.5, 1.0, 2.0)
            The powers.
        cv : int, default=5
            Number of folds.
        axes : sequence of two matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        SparsityDisplay
        """
        labels = np.asarray(y)
        lams, powers = sorted(lams), sorted(powers)
        found = np.empty((cv, len(powers), len(lams), 3))
        base = FractionalNB() if estimator is None else estimator
        folds = StratifiedKFold(cv, shuffle=True, random_state=0).split(labels, labels)
        for fold, (train, test) in enumerate(folds):
            rows, others = take_rows(X, train), take_rows(X, test)
            for i, p in enumerate(powers):
                for j, lam in enumerate(lams):
                    model = clone(base).set_params(lam=lam, p=p).fit(rows, labels[train])
                    found[fold, i, j] = (
                        model.compression_rate_,
                        _compression(model, others, labels[test]),
                        model.support_.sum(),
                    )
        means = found.mean(axis=0)
        display = cls(
            lams=np.array(lams),
            powers=np.array(powers),
            train=means[..., 0],
            test=means[..., 1],
            kept=means[..., 2],
        )
        return display.plot(axes=axes)

    def plot(self, *, axes: Sequence[Axes] | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        SparsityDisplay
            The display itself.
        """
        if axes is None:
            plt = import_pyplot("SparsityDisplay")
            figure = plt.figure(figsize=(9.0, 4.0), layout="constrained")
            axes = list(figure.subplots(1, 2))
        if len(axes) != 2:
            raise ValueError(f"2 axes are needed, got {len(axes)}.")
        self.axes_ = list(axes)
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        rate, kept = self.axes_
        places = np.arange(len(self.lams))
        for i, p in enumerate(self.powers):
            (line,) = rate.plot(places, self.test[i], marker="o", label=f"p = {p:g}")
            rate.plot(places, self.train[i], linestyle="--", color=line.get_color(), linewidth=1.0)
            kept.plot(places, self.kept[i], marker="o", color=line.get_color())
        rate.plot([], [], color="black", label="new rows")
        rate.plot([], [], color="black", linestyle="--", linewidth=1.0, label="training rows")
        for ax, label in ((rate, "compression rate"), (kept, "columns kept")):
            ax.set(xlabel="strength of the penalty (lam)", ylabel=label, title=label)
            ax.set_xticks(places, [f"{lam:g}" for lam in self.lams])
            ax.grid(alpha=0.3)
        kept.set_ylim(bottom=0)
        rate.legend()
        return self


def _compression(model: FractionalNB, X: Any, labels: NDArray[Any]) -> float:
    """One minus the log-loss of rows over that of the class probabilities."""
    places = np.searchsorted(model.classes_, labels)
    rows = np.arange(len(labels))
    loss = -model.predict_log_proba(X)[rows, places].sum()
    null = -model.class_log_prior_[places].sum()
    return float(1.0 - loss / null)
