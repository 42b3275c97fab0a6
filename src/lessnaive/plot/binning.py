"""The bins or groups of a column as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.encoding.base import SupervisedEncoder
from lessnaive.encoding.binning import Binning
from lessnaive.encoding.binning_table import weight_of_evidence
from lessnaive.models.base import ScorecardClassifier
from lessnaive.plot.axes import (
    check_drawable,
    class_place,
    colours,
    legend_name,
    new_axes,
    plain_text,
    term_place,
)
from lessnaive.scorecard.terms.encodings import Groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend

__all__ = ["BinningDisplay"]

# Characters of the names of a group, and of a line of a label that is turned.
_LABEL_WIDTH = 32
_LINE_WIDTH = 22
# Width of a character in inches, about: what is too wide for its bin is turned.
_CHARACTER = 0.085
# Axes that are lower than this, in inches, have no room for a title above the legend.
_LOW = 3.5
# Width of a bin in inches that has room for two lines that are turned.
_TWO_LINES = 0.45


@dataclass(kw_only=True, eq=False, repr=False)
class BinningDisplay:
    """Bars of the share of each class in each bin, with counts and the weight of evidence.

    It is best made with :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    column : str
        Name of the column.
    labels : sequence of str
        What each bin is called.
    counts : array of shape (n_bins, n_classes)
        Weight of the training rows, by bin and class.
    classes : array of shape (n_classes,)
        The classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the bars are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    bars_ : list of matplotlib BarContainer
        The bars, by class.
    counts_ : list of matplotlib Annotation
        The counts above the bars.
    legend_ : matplotlib Legend
        The names of the classes.
    evidence_ax_ : matplotlib Axes
        The second axes, of the weight of evidence.
    line_ : matplotlib Line2D
        The weight of evidence.

    See Also
    --------
    lessnaive.MODLEncoder.binning_table : The same as numbers.

    Examples
    --------
    >>> from lessnaive import MODLEncoder
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import BinningDisplay
    >>> X, y = load_penguins()
    >>> encoder = MODLEncoder().fit(X, y)
    >>> display = BinningDisplay.from_estimator(encoder, "bill_length_mm", class_="Gentoo")
    >>> display.labels
    ['<= 42.35 or missing', '(42.35, 46.05]', '> 46.05']

    Models keep their bins too:

    >>> from lessnaive import NaiveBayes
    >>> BinningDisplay.from_estimator(NaiveBayes().fit(X, y), "bill_length_mm").labels
    ['(missing)', '<= 42.35', '(42.35, 46.05]', '> 46.05']
    """

    column: str
    labels: Sequence[str]
    counts: ArrayLike
    classes: ArrayLike

    @classmethod
    def from_estimator(
        cls,
        estimator: SupervisedEncoder | ScorecardClassifier,
        column: str | int,
        *,
        class_: Any = None,
        cmap: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a column of a fitted encoder, or of a fitted model with bins or values.

        Parameters
        ----------
        estimator : MODLEncoder, MDLPDiscretizer or classifier of lessnaive
            A fitted encoder or model.
        column : str or int
            Name or position of the column.
        class_ : label of a class, optional
            The class whose weight of evidence is drawn; by default the last one.
        cmap : str or matplotlib Colormap, optional
            Colours of the classes.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        BinningDisplay
        """
        check_drawable(
            estimator,
            SupervisedEncoder | ScorecardClassifier,
            "BinningDisplay draws the bins of a MODLEncoder, an MDLPDiscretizer or a classifier of "
            "lessnaive",
        )
        if isinstance(estimator, SupervisedEncoder):
            name, binning = estimator._column(column)
            labels, counts = _labels(binning), binning.rows()[1]
        else:
            name, labels, counts = _bins_of_model(estimator, column)
        display = cls(column=name, labels=labels, counts=counts, classes=estimator.classes_)
        return display.plot(class_=class_, cmap=cmap, ax=ax)

    def plot(self, *, class_: Any = None, cmap: Any = None, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        class_ : label of a class, optional
            The class whose weight of evidence is drawn; by default the last one.
        cmap : str or matplotlib Colormap, optional
            Colours of the classes.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        BinningDisplay
            The display itself.
        """
        counts = np.asarray(self.counts, dtype=np.float64)
        place = class_place(self.classes, class_)
        self.ax_ = _new_axes(self.labels) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        self._draw_bars(counts, cmap)
        self._name_bins()
        self._draw_evidence(weight_of_evidence(counts)[:, place], place)
        return self

    def _draw_bars(self, counts: NDArray[np.float64], cmap: Any) -> None:
        total = counts.sum(axis=1)
        shares = counts / np.where(total > 0, total, 1.0)[:, None]
        places, bottom = np.arange(len(counts)), np.zeros(len(counts))
        names = [legend_name(name, 30) for name in np.asarray(self.classes).tolist()]
        self.bars_: list[BarContainer] = []
        for name, share, colour in zip(names, shares.T, colours(len(names), cmap), strict=True):
            self.bars_.append(
                self.ax_.bar(places, share, 0.8, bottom=bottom, color=colour, label=name)
            )
            bottom += share
        self.ax_.set(ylim=(0, 1), ylabel="share of each class")
        written = [_number(n) for n in total.tolist()]
        turned = _too_wide(written, _width(self.ax_))
        self.counts_ = [
            self.ax_.annotate(
                text,
                (place, 1.0),
                (0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                rotation=90 if turned else 0,
            )
            for place, text in enumerate(written)
        ]
        self._draw_legend(names, lines_below=0.7 * max(map(len, written)) if turned else 1.3)

    def _draw_legend(self, names: list[str], lines_below: float) -> None:
        """Above the axes and the counts, where nothing else is but the title."""
        room = _width(self.ax_) / (_CHARACTER * (max(map(len, names)) + 6))
        columns = int(np.clip(room, 1, len(names)))
        self.legend_: Legend = self.ax_.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            borderaxespad=lines_below + 0.5,
            ncols=columns,
            frameon=False,
        )
        if self.ax_.get_window_extent().height / self.figure_.dpi > _LOW:
            above = 12 * (lines_below + 1.0) + 16 * -(-len(names) // columns)
            self.ax_.set_title(plain_text(self.column), pad=above)

    def _name_bins(self) -> None:
        self.ax_.set_xlabel(plain_text(self.column))
        labels = [plain_text(label) for label in self.labels]
        turned = _too_wide(labels, _width(self.ax_))
        broken = turned and _width(self.ax_) > _TWO_LINES * len(labels)
        lines = [fill(label, _LINE_WIDTH) if broken else label for label in labels]
        self.ax_.set_xticks(np.arange(len(lines)), lines)
        if turned:
            for tick in self.ax_.get_xticklabels():
                tick.set(rotation=40, ha="right", va="top", rotation_mode="anchor", linespacing=0.9)

    def _draw_evidence(self, evidence: NDArray[np.float64], place: int) -> None:
        axes = self.ax_.twinx()
        name = np.asarray(self.classes).tolist()[place]
        (self.line_,) = axes.plot(
            np.arange(len(evidence)), evidence, "o-", color="black", markeredgecolor="white"
        )
        most = max(1.0, 1.1 * float(np.abs(evidence).max()))  # no evidence is in the middle
        axes.set(ylim=(-most, most), ylabel=f"weight of evidence for {plain_text(name, 30)}")
        axes.axhline(0.0, color="black", linewidth=0.8, linestyle=":")
        self.evidence_ax_ = axes


def _bins_of_model(
    estimator: ScorecardClassifier, column: str | int
) -> tuple[str, list[str], NDArray[np.float64]]:
    """Return the name, the bins and their rows, of a column of a model."""
    card = estimator.scorecard_
    term = card.terms[term_place(card, column)]
    rows = [row for row in term.rows(card.schema.kinds) if row.counts.any()]
    if any(row.is_difference or np.isnan(row.counts).any() for row in rows) or not rows:
        raise ValueError(
            f"{term.name!r} has no bins in this {type(estimator).__name__}, but a curve: "
            "TermDisplay draws it."
        )
    labels = [label if len(label) <= _LABEL_WIDTH else _cut(label) for label, *_ in rows]
    return term.name, labels, np.array([row.counts for row in rows])


def _cut(label: str) -> str:
    return label[: _LABEL_WIDTH - 1] + "…"


def _labels(binning: Binning) -> list[str]:
    """Labels of the bins; groups are cut short, as there is no room for many names."""
    labels, _ = binning.rows()
    if not isinstance(binning.encoding, Groups):
        return labels
    groups = [_listed([str(value) for value in group]) for group in binning.encoding.groups]
    if binning.missing_bin is not None and binning.missing.any():
        groups[binning.missing_bin] += " or missing"
    return groups + labels[len(groups) :]


def _listed(names: list[str]) -> str:
    shown = names[0]
    if len(shown) > _LABEL_WIDTH:
        shown = _cut(shown)
    for place, name in enumerate(names[1:], start=1):
        if len(shown) + len(name) + 2 > _LABEL_WIDTH:
            return f"{shown} + {len(names) - place} more"
        shown += f", {name}"
    return shown


def _number(count: float) -> str:
    return f"{count:,.0f}" if count == round(count) else f"{count:,.4g}"


def _width(axes: Axes) -> float:
    """Width in inches."""
    return float(axes.get_window_extent().width / axes.figure.dpi)


def _too_wide(texts: Sequence[str], width: float) -> bool:
    """Whether texts side by side would run into each other."""
    return max(map(len, texts)) * _CHARACTER > width / len(texts)


def _new_axes(labels: Sequence[str]) -> Axes:
    width = min(max(6.4, 0.7 * len(labels) + 2.0), 20.0)
    below = _CHARACTER * min(max(map(len, labels)), _LINE_WIDTH) if _too_wide(labels, width) else 0
    return new_axes("BinningDisplay", width, 4.8 + 0.6 * below)
