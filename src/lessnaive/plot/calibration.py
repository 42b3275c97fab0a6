"""Whether probabilities mean what they say, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lessnaive.plot.axes import class_place, colours, legend_name, new_axes, plain_text
from lessnaive.validation.calibration import Reliability, curve_error, reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

__all__ = ["CalibrationDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationDisplay:
    """How often classes occur where they were said to be so probable, with bands of 95 %.

    On the diagonal probabilities mean what they say; below it the model is too sure of the class.
    Bars at the bottom show how many rows have such probabilities. The numbers are those of
    ``sklearn.calibration.calibration_curve``. It is best made with
    :meth:`from_estimator` or :meth:`from_predictions`. The arguments are kept as attributes.

    Parameters
    ----------
    curves : mapping of str to Reliability
        The bins, by the name of the curve.
    title : str, default=""
        What is written above.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    lines_ : dict of str to matplotlib Line2D
        The curves.
    bands_ : dict of str to matplotlib PolyCollection
        The bands around them.
    legend_ : matplotlib Legend
        Names and expected calibration errors.

    Examples
    --------
    >>> from lessnaive import LessNaiveClassifier
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import CalibrationDisplay
    >>> X, y = load_penguins("pandas")
    >>> model = LessNaiveClassifier().fit(X[::2], y[::2])
    >>> display = CalibrationDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> sorted(display.lines_)
    ['Adelie', 'Chinstrap', 'Gentoo']
    """

    curves: Mapping[str, Reliability]
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        class_: Any = None,
        sample_weight: ArrayLike | None = None,
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the calibration of a fitted classifier, best on rows that it was not fitted to.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier, of lessnaive or not.
        X : table of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        class_ : label of a class, optional
            The class whose probabilities are looked at; by default each of them, and of two classes
            the second.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        n_bins : int, default=10
            Number of bins between 0 and 1.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CalibrationDisplay
        """
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                "CalibrationDisplay draws a classifier with predict_proba, got "
                f"{type(estimator).__name__}."
            )
        check_is_fitted(estimator)
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            classes=estimator.classes_,
            class_=class_,
            sample_weight=sample_weight,
            n_bins=n_bins,
            title=type(estimator).__name__,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        probability: ArrayLike,
        *,
        classes: ArrayLike,
        class_: Any = None,
        sample_weight: ArrayLike | None = None,
        n_bins: int = 10,
        title: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the calibration of probabilities.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The classes of rows.
        probability : array-like of shape (n_samples, n_classes)
            Predicted probabilities.
        classes : array-like of shape (n_classes,)
            The classes, in the order of the probabilities.
        class_, sample_weight, n_bins, ax
            As in :meth:`from_estimator`.
        title : str, default=""
            What is written above.

        Returns
        -------
        CalibrationDisplay
        """
        labels, chances = np.asarray(y), np.asarray(probability, dtype=np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        names = np.asarray(classes).tolist()
        alone = class_ is not None or len(names) == 2
        shown = [class_place(classes, class_)] if alone else range(len(names))
        curves = {
            str(names[c]): reliability(chances[:, c], labels == names[c], weights, n_bins)
            for c in shown
        }
        return cls(curves=curves, title=title).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CalibrationDisplay
            The display itself.
        """
        self.ax_ = new_axes("CalibrationDisplay", 5.2, 5.2) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1.0, zorder=1)
        self.lines_: dict[str, Line2D] = {}
        self.bands_: dict[str, Any] = {}
        shades = colours(len(self.curves), None)
        for (name, found), shade in zip(self.curves.items(), shades, strict=True):
            error = curve_error(found)
            (self.lines_[name],) = self.ax_.plot(
                found.predicted,
                found.observed,
                marker="o",
                markersize=4,
                color=shade,
                label=f"{legend_name(name, 30)} (error {error:.3f})",
            )
            self.bands_[name] = self.ax_.fill_between(
                found.predicted, found.low, found.high, color=shade, alpha=0.15, linewidth=0
            )
            share = found.counts / found.counts.sum()
            self.ax_.vlines(found.predicted, 0.0, 0.15 * share, color=shade, alpha=0.5, linewidth=4)
        self.ax_.set(
            xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability", ylabel="share of such rows"
        )
        self.ax_.set_aspect("equal")
        self.ax_.grid(alpha=0.3)
        self.ax_.set_title(plain_text(self.title))
        self.legend_: Legend = self.ax_.legend(loc="upper left", fontsize="small", frameon=False)
        return self
