"""How well models predict, along a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lessnaive._sklearn import take_rows
from lessnaive.plot.axes import colours, import_pyplot
from lessnaive.stream import CurvePoint, Prequential

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["PrequentialDisplay"]

Curve = Mapping[str, NDArray[np.float64]]

_MEASURES = ("accuracy", "log_loss")


@dataclass(kw_only=True, eq=False, repr=False)
class PrequentialDisplay:
    """Accuracy and log-loss of rows that were predicted before they were learned from.

    It is best made with :meth:`from_estimator`, or :meth:`from_curves` for several models. The
    arguments are kept as attributes.

    Parameters
    ----------
    curves : mapping of str to dict of arrays
        For each model, by its name, the fields of :class:`~lessnaive.stream.CurvePoint` as arrays.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for the accuracy and one for the log-loss.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    recent_ : list of dict of str to matplotlib Line2D
        For each of the axes the measures of the last rows, by model.
    overall_ : list of dict of str to matplotlib Line2D
        The same of all rows so far, dashed.

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import PrequentialDisplay
    >>> from lessnaive.stream import ClassFrequencies, Prequential
    >>> X, y = load_penguins("pandas")
    >>> X, y = X.sample(frac=1, random_state=0), y.sample(frac=1, random_state=0)
    >>> models = {"naive Bayes": NaiveBayes(), "baseline": ClassFrequencies()}
    >>> curves = {name: Prequential(window=50) for name in models}
    >>> for start in range(0, len(X), 10):
    ...     rows = slice(start, start + 10)
    ...     for name, model in models.items():
    ...         curves[name].test_then_train(model, X[rows], y[rows])
    >>> display = PrequentialDisplay.from_curves(curves)
    >>> [axes.get_ylabel() for axes in display.axes_]
    ['accuracy', 'log-loss']
    """

    curves: Mapping[str, Curve]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        batch_size: int = 100,
        window: int = 1000,
        overall: bool = True,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Let a copy of a classifier learn from rows batch by batch, each predicted first.

        Parameters
        ----------
        estimator : classifier with partial_fit
            Its parameters; it need not be fitted, and is not changed.
        X : table of shape (n_samples, n_features)
            Rows in the order in which they come.
        y : array-like of shape (n_samples,)
            Their classes.
        batch_size : int, default=100
            Rows that are predicted and learned from at a time.
        window : int, default=1000
            Rows that the recent measures are of.
        overall, axes
            As in :meth:`from_curves`.

        Returns
        -------
        PrequentialDisplay
        """
        if not hasattr(estimator, "partial_fit"):
            raise TypeError(
                "PrequentialDisplay draws a classifier with partial_fit, got "
                f"{type(estimator).__name__}."
            )
        model, curve, labels = clone(estimator), Prequential(window=window), np.asarray(y)
        for start in range(0, len(labels), batch_size):
            rows = np.arange(start, min(start + batch_size, len(labels)))
            curve.test_then_train(model, take_rows(X, rows), labels[rows])
        name = type(estimator).__name__
        return cls.from_curves({name: curve}, overall=overall, axes=axes)

    @classmethod
    def from_curves(
        cls,
        curves: Mapping[str, Any] | Prequential,
        *,
        overall: bool = True,
        axes: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw curves of one model or more.

        Parameters
        ----------
        curves : Prequential, or mapping of str to Prequential, sequence of CurvePoint or data frame
            The curves, by the names of the models. A data frame is what ``lessnaive stream
            --curve`` has written.
        overall : bool, default=True
            Whether the measures of all rows so far are drawn too, dashed.
        axes : sequence of two matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        PrequentialDisplay
        """
        if isinstance(curves, Prequential):
            curves = {"model": curves}
        display = cls(curves={name: _as_arrays(curve) for name, curve in curves.items()})
        return display.plot(overall=overall, axes=axes)

    def plot(self, *, overall: bool = True, axes: Sequence[Axes] | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        overall : bool, default=True
            Whether the measures of all rows so far are drawn too, dashed.
        axes : sequence of two matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        PrequentialDisplay
            The display itself.
        """
        self.axes_ = _new_axes() if axes is None else list(axes)
        if len(self.axes_) != len(_MEASURES):
            raise ValueError(f"{len(_MEASURES)} axes are needed, got {len(self.axes_)}.")
        self.figure_: Figure | SubFigure = self.axes_[0].figure
        self.recent_, self.overall_ = [], []
        for ax, measure in zip(self.axes_, _MEASURES, strict=True):
            self.recent_.append(self._draw(ax, f"recent_{measure}"))
            self.overall_.append(self._draw(ax, measure, dashed=True) if overall else {})
            name = measure.replace("_", "-")
            ax.set(xlabel="rows", ylabel=name, title=f"{name}, predicted before learned")
            ax.grid(alpha=0.3)
        handles = list(self.recent_[0].values())
        if overall:
            style: dict[str, Any] = {"color": "0.4", "linewidth": 1.0, "label": "all rows so far"}
            handles += self.axes_[0].plot([], [], "--", **style)
        if axes is None:  # above, where no curve is
            self.figure_.legend(handles=handles, loc="outside upper center", ncols=4)
        else:
            self.axes_[0].legend(handles=handles)
        return self

    def _draw(self, ax: Axes, measure: str, *, dashed: bool = False) -> dict[str, Line2D]:
        style: dict[str, Any] = {"linewidth": 1.6}
        if dashed:
            style = {"linewidth": 1.0, "linestyle": "--", "alpha": 0.7}
        out = {}
        for (name, curve), colour in zip(
            self.curves.items(), colours(len(self.curves), None), strict=True
        ):
            label = None if dashed else name
            (out[name],) = ax.plot(
                curve["n_rows"], curve[measure], color=colour, label=label, **style
            )
        return out


def _as_arrays(curve: Any) -> Curve:
    """Return a curve, however it is given, as arrays."""
    points = curve.curve if isinstance(curve, Prequential) else curve
    names = CurvePoint._fields
    if isinstance(points, list | tuple):
        values = np.array(points, dtype=np.float64).reshape(-1, len(names))
        return dict(zip(names, values.T, strict=True))
    try:
        return {name: np.asarray(points[name], dtype=np.float64) for name in names}
    except (KeyError, TypeError, IndexError):
        raise TypeError(
            f"a curve must be a Prequential, points of one, or a table with the columns "
            f"{', '.join(names)}, got {type(curve).__name__}."
        ) from None


def _new_axes() -> list[Axes]:
    plt = import_pyplot("PrequentialDisplay")
    figure = plt.figure(figsize=(10.0, 4.0), layout="constrained")
    return list(figure.subplots(1, 2))
