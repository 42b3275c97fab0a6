"""What a column does, or a pair of columns: bars, curves or a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.models.base import ScorecardClassifier
from lessnaive.plot.axes import (
    check_drawable,
    class_place,
    colours,
    legend_beside,
    legend_name,
    new_axes,
    plain_text,
    term_place,
    write_cells,
)
from lessnaive.scorecard.terms.drawing import Bars, Curve, Drawing, HeatMap
from lessnaive.scorecard.terms.wording import number_text
from lessnaive.table import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

__all__ = ["TermDisplay"]

Floats = NDArray[np.float64]

# Cells of a heat map that leave room for a number each.
_MOST_WRITTEN = 12
# Values of a heat map that leave room for a name each.
_MOST_TICKS = 16
# Names of many values are cut short.
_LABEL_WIDTH = 40
# Seconds of a day.
_DAY = 86_400.0
# Scores beyond are those of classes that a value rules out.
_FARTHEST = 50.0


@dataclass(kw_only=True, eq=False, repr=False)
class TermDisplay:
    """What the values of a column add to the scores of the classes, and how many rows have them.

    Names are drawn as bars, numbers as a curve, and pairs of columns as a heat map of one class.
    Scores are relative to the average training row and to the mean over the classes, so that what
    is above 0 speaks for a class. Whiskers and bands show how far a score might be off by chance if
    it was learned from the rows of its value alone, which is more than in models that smooth and
    shrink. It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    name : str
        Name of the term: of a column, or of a pair of columns.
    drawing : Bars, Curve or HeatMap
        What it looks like, see ``Scorecard.drawing``.
    classes : array of shape (n_classes,)
        The classes.
    kind : Kind, default=Kind.NUMBER
        What the column of a curve holds: the numbers of dates are seconds since 1970.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the scores are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    counts_ax_ : matplotlib Axes or None
        The second axes of a curve, with the rows as grey bars.
    bars_ : list of matplotlib BarContainer
        The bars, by class; empty for other drawings.
    lines_ : list of matplotlib Line2D
        The curves, by class; empty for other drawings.
    bands_ : list of matplotlib PolyCollection
        The bands around the curves.
    image_ : matplotlib AxesImage or None
        The heat map.
    texts_ : list of matplotlib Text
        Scores and rows in the cells of a heat map.

    Examples
    --------
    >>> from lessnaive import LessNaiveClassifier
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import TermDisplay
    >>> X, y = load_penguins()
    >>> model = LessNaiveClassifier().fit(X, y)
    >>> display = TermDisplay.from_estimator(model, "island")
    >>> display.drawing.labels
    ['Biscoe', 'Dream', 'Torgersen']
    >>> [line.get_label() for line in TermDisplay.from_estimator(model, "bill_length_mm").lines_]
    ['Adelie', 'Chinstrap', 'Gentoo']
    """

    name: str
    drawing: Drawing
    classes: ArrayLike
    kind: Kind = Kind.NUMBER

    @classmethod
    def from_estimator(
        cls,
        estimator: ScorecardClassifier,
        column: str | int,
        *,
        class_: Any = None,
        bands: bool = True,
        max_values: int = 25,
        cmap: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a term of a fitted model.

        Parameters
        ----------
        estimator : classifier of lessnaive
            A fitted model.
        column : str or int
            Name of the term, which is that of its column or pair of columns, or its place in
            ``scorecard_.terms``.
        class_ : label of a class, optional
            The class that is drawn; by default all of them, of two classes the second one, as the
            first is its mirror image, and of a heat map the last one.
        bands : bool, default=True
            Whether to draw how far scores might be off by chance.
        max_values : int, default=25
            Most bars that are drawn: those of the most frequent values.
        cmap : str or matplotlib Colormap, optional
            Colours of the classes, or of a heat map.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        TermDisplay
        """
        check_drawable(
            estimator, ScorecardClassifier, "TermDisplay draws a classifier of lessnaive"
        )
        card = estimator.scorecard_
        place = term_place(card, column)
        term = card.terms[place]
        display = cls(
            name=term.name,
            drawing=card.drawing(place),
            classes=card.classes,
            kind=card.schema.kinds[term.inputs[0]],
        )
        return display.plot(class_=class_, bands=bands, max_values=max_values, cmap=cmap, ax=ax)

    def plot(
        self,
        *,
        class_: Any = None,
        bands: bool = True,
        max_values: int = 25,
        cmap: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        class_ : label of a class, optional
            The class that is drawn; by default all of them, of two classes the second one, and of a
            heat map the last one.
        bands : bool, default=True
            Whether to draw how far scores might be off by chance.
        max_values : int, default=25
            Most bars that are drawn: those of the most frequent values.
        cmap : str or matplotlib Colormap, optional
            Colours of the classes, or of a heat map.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        TermDisplay
            The display itself.
        """
        n_classes = len(np.asarray(self.classes))
        alone = class_ is not None or n_classes == 2
        shown = [class_place(self.classes, class_)] if alone else list(range(n_classes))
        shades = colours(n_classes, None if isinstance(self.drawing, HeatMap) else cmap)[shown]
        self.counts_ax_: Axes | None = None
        self.bars_: list[BarContainer] = []
        self.lines_: list[Line2D] = []
        self.bands_: list[Any] = []
        self.image_: AxesImage | None = None
        self.texts_: list[Any] = []
        names = [plain_text(label) for label in np.asarray(self.classes).tolist()]
        title = plain_text(self.name)
        match self.drawing:
            case Bars():
                self._draw_bars(self.drawing, shown, shades, names, bands, max_values, ax)
            case Curve():
                self._draw_curve(self.drawing, shown, shades, names, bands, ax)
            case HeatMap():
                place = class_place(self.classes, class_)
                self._draw_heat_map(self.drawing, place, cmap, ax)
                title = f"{title}: {names[place]}"
        if not isinstance(self.drawing, HeatMap):
            if alone:
                title = f"{title}: {names[shown[0]]}"
            else:
                legend_beside(self.ax_)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.ax_.set_title(title)
        return self

    def _draw_bars(
        self,
        drawn: Bars,
        shown: list[int],
        shades: Any,
        names: list[str],
        bands: bool,
        max_values: int,
        ax: Axes | None,
    ) -> None:
        rows = None if drawn.counts is None else drawn.counts.sum(axis=1)
        kept = np.arange(len(drawn.labels))
        if rows is not None:
            kept = np.sort(np.argsort(-rows, kind="stable")[:max_values])
        kept = kept[:max_values]
        labels = [plain_text(drawn.labels[place], _LABEL_WIDTH) for place in kept]
        if rows is not None:
            labels = [f"{name}  ({rows[j]:,.6g})" for name, j in zip(labels, kept, strict=True)]
        left_out = len(drawn.labels) - len(kept)
        height = min(1.6 + 0.14 * len(kept) * max(len(shown), 2), 16.0)
        width = 5.5 + 0.08 * max(map(len, labels), default=0)
        self.ax_ = new_axes("TermDisplay", width, height) if ax is None else ax
        widths = drawn.half_widths() if bands else None
        thick = 0.8 / len(shown)
        places = np.arange(len(kept))
        for k, (c, shade) in enumerate(zip(shown, shades, strict=True)):
            bars = self.ax_.barh(
                places + (k - (len(shown) - 1) / 2) * thick,
                _finite(drawn.scores[kept, c]),
                thick * 0.92,
                xerr=None if widths is None else widths[kept, c],
                error_kw={"elinewidth": 1.0, "ecolor": "0.35"},
                color=shade,
                label=legend_name(names[c]),
            )
            self.bars_.append(bars)
        self.ax_.axvline(0.0, color="0.3", linewidth=0.8)
        self.ax_.set_yticks(places, labels)
        self.ax_.set_ylim(len(kept) - 0.4, -0.6)
        self.ax_.set_xlabel(_SCORE)
        more = f"\n{left_out} rarer values are not shown" if left_out else ""
        self.ax_.set_ylabel(f"value{'' if rows is None else ' (training rows)'}{more}")

    def _draw_curve(
        self,
        drawn: Curve,
        shown: list[int],
        shades: Any,
        names: list[str],
        bands: bool,
        ax: Axes | None,
    ) -> None:
        self.ax_ = new_axes("TermDisplay", 7.2, 4.2) if ax is None else ax
        scores, widths = _finite(drawn.scores), drawn.half_widths() if bands else None
        low, high = float(drawn.x[0]), float(drawn.x[-1])
        beside = high + 0.06 * (high - low)
        for c, shade in zip(shown, shades, strict=True):
            self.lines_ += self.ax_.plot(
                drawn.x, scores[:, c], color=shade, label=legend_name(names[c])
            )
            if widths is not None:
                band = self.ax_.fill_between(
                    drawn.x,
                    scores[:, c] - widths[:, c],
                    scores[:, c] + widths[:, c],
                    color=shade,
                    alpha=0.15,
                    linewidth=0,
                )
                self.bands_.append(band)
            if drawn.missing is not None:
                self.ax_.plot(beside, _finite(drawn.missing)[c], "D", color=shade, markersize=5)
        self.ax_.axhline(0.0, color="0.3", linewidth=0.8)
        self.ax_.set(xlabel=plain_text(self.name), ylabel=_SCORE)
        if drawn.missing is not None:
            middle = 0.5 * (high + beside)
            self.ax_.axvline(middle, color="0.7", linewidth=0.8, linestyle=":")
            self.ax_.annotate(
                "missing",
                (beside, 1.0),
                (0, -4),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize="x-small",
            )
        self._set_ticks(low, high)
        self._draw_counts(drawn, low, high)

    def _set_ticks(self, low: float, high: float) -> None:
        """Set ticks below the curve alone; those of times are days, where it spans some."""
        from matplotlib.ticker import MaxNLocator

        self.ax_.set_xlim(self.ax_.get_xlim())
        if not self.kind.is_time:
            self.ax_.set_xticks([tick for tick in self.ax_.get_xticks() if low <= tick <= high])
            return
        unit = _DAY if high - low > 2 * _DAY else 1.0
        found = MaxNLocator(5, integer=True).tick_values(low / unit, high / unit)
        ticks = [unit * tick for tick in found if low <= unit * tick <= high]
        self.ax_.set_xticks(ticks, [number_text(tick, self.kind) for tick in ticks])

    def _draw_counts(self, drawn: Curve, low: float, high: float) -> None:
        """Draw how dense the rows are, in grey at the bottom."""
        if drawn.counts is None:
            return
        ends = np.clip(np.concatenate([[low], drawn.edges, [high]]), low, high)
        width = np.diff(ends)
        dense = drawn.counts.sum(axis=1) / np.where(width > 0, width, np.inf)
        axes = self.ax_.twinx()
        axes.bar(ends[:-1], dense, width, align="edge", color="0.5", alpha=0.25, linewidth=0)
        axes.set_ylim(0, 6 * float(dense.max()) or 1.0)
        axes.set_yticks([])
        axes.set_ylabel("rows (grey)", fontsize="x-small", color="0.4", loc="bottom")
        self.counts_ax_ = axes

    def _draw_heat_map(self, drawn: HeatMap, place: int, cmap: Any, ax: Axes | None) -> None:
        scores = _finite(drawn.scores[:, :, place])
        rows = [plain_text(label, _LABEL_WIDTH) for label in drawn.labels]
        columns = [plain_text(label, _LABEL_WIDTH) for label in drawn.other_labels]
        if ax is None:
            names = 0.08 * max(map(len, rows))
            width = 2.5 + names + min(0.7 * len(columns), 7.0)
            height = 1.5 + min(0.42 * len(rows), 5.0) + 0.05 * max(map(len, columns))
            ax = new_axes("TermDisplay", width, height)
        self.ax_ = ax
        most = float(np.abs(scores).max(initial=0.0)) or 1.0
        self.image_ = ax.imshow(scores, cmap=cmap or "RdBu", vmin=-most, vmax=most, aspect="auto")
        if max(scores.shape) <= _MOST_WRITTEN:
            counts = None if drawn.counts is None else drawn.counts.sum(axis=2)
            self.texts_ = list(write_cells(ax, self.image_, _cells(scores, counts)))
        every = [-(-len(labels) // _MOST_TICKS) for labels in (rows, columns)]
        ax.set_yticks(np.arange(len(rows))[:: every[0]], rows[:: every[0]])
        places = np.arange(len(columns))[:: every[1]]
        ax.set_xticks(places, columns[:: every[1]], rotation=40, ha="right")
        first, joined, second = self.name.partition(" & ")
        if joined:
            ax.set(ylabel=plain_text(first), xlabel=plain_text(second))
        ax.figure.colorbar(self.image_, ax=ax, label=_SCORE)


_SCORE = "score relative to the average row (nats)"


def _finite(scores: Floats) -> Floats:
    return np.clip(np.nan_to_num(scores, nan=0.0), -_FARTHEST, _FARTHEST)


def _cells(scores: Floats, counts: Floats | None) -> list[list[str]]:
    if counts is None:
        return [[f"{score:+.2f}" for score in line] for line in scores.tolist()]
    both = zip(scores.tolist(), counts.tolist(), strict=True)
    return [
        [f"{score:+.2f}\n{count:,.4g}" for score, count in zip(line, n, strict=True)]
        for line, n in both
    ]
