"""The classic nomogram of naive Bayes: points for each value, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.base import ScorecardClassifier
from lessnaive.plot.axes import check_drawable, class_place, new_axes, plain_text
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms.drawing import Bars, Curve, HeatMap
from lessnaive.scorecard.terms.wording import number_text
from lessnaive.table import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Text

__all__ = ["NomogramDisplay", "NomogramScale"]

Floats = NDArray[np.float64]

# The column that says most has values from 0 to so many points.
_POINTS = 100.0
# Width of a character in points of a new figure, about.
_CHARACTER = 1.25
_LABEL_WIDTH = 24
# Log-odds beyond are those of classes that a value rules out.
_FARTHEST = 30.0
# About so many numbers stand on the scale of a numeric column.
_N_NUMBERS = 7
_CHANCES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99, 0.999)


class NomogramScale(NamedTuple):
    """The values of a column on the scale of the log-odds.

    Attributes
    ----------
    name : str
        Name of the column.
    labels : list of str
        Values.
    log_odds : array of shape (n_values,)
        What each adds to the log-odds, relative to the average training row.
    above : list of bool
        Whether a value is written above the line: below are those where the log-odds fall as a
        number grows.
    """

    name: str
    labels: list[str]
    log_odds: Floats
    above: list[bool]


@dataclass(kw_only=True, eq=False, repr=False)
class NomogramDisplay:
    """Points for each value of each column; their sum gives the probability, by ruler and pencil.

    Find the value of the row on the line of each column, read the points above it at the top, add
    them up, and look up the probability below the total. It is best made with
    :meth:`from_estimator`. The arguments are kept as attributes.

    Parameters
    ----------
    scales : sequence of NomogramScale
        The columns, the longest scale first.
    base : float
        The log-odds of the average training row.
    class_name, other_name : str
        The class whose probability is looked up, and the one that it is held against.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the scales are.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    points_per_nat_ : float
        Points for one unit of the log-odds.
    starts_ : array of shape (n_scales,)
        The log-odds that have 0 points, of each scale.
    texts_ : list of list of matplotlib Text
        The values that are written, by scale; those without room are left out.

    References
    ----------
    M. Možina, J. Demšar, M. Kattan and B. Zupan (2004). Nomograms for visualization of naive
    Bayesian classifier. PKDD 2004, 337-348.

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import NomogramDisplay
    >>> X, y = load_penguins()
    >>> display = NomogramDisplay.from_estimator(NaiveBayes().fit(X, y), class_="Gentoo")
    >>> display.other_name
    'Adelie'
    """

    scales: Sequence[NomogramScale]
    base: float
    class_name: str
    other_name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: ScorecardClassifier,
        *,
        class_: Any = None,
        against: Any = None,
        max_terms: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the nomogram of a fitted model, of one class against another.

        Parameters
        ----------
        estimator : classifier of lessnaive
            A fitted model.
        class_ : label of a class, optional
            The class whose probability is looked up; by default the last one.
        against : label of a class, optional
            The class that it is held against; by default the other one that is most probable in the
            average training row. With more than two classes the probability is that among the
            two.
        max_terms : int, default=12
            Most columns that are drawn: those with the widest range. The others are taken as in the
            average training row.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        NomogramDisplay
        """
        check_drawable(
            estimator, ScorecardClassifier, "NomogramDisplay draws a classifier of lessnaive"
        )
        card = estimator.scorecard_
        if len(card.classes) < 2:
            raise ValueError("A nomogram needs two classes, and the model has one.")
        place = class_place(card.classes, class_)
        other = _other(card, place) if against is None else class_place(card.classes, against)
        if other == place:
            raise ValueError("against must be another class than class_.")
        scales = [_scale(card, j, place, other) for j in range(len(card.terms))]
        scales = [scale for scale in scales if len(scale.labels)]
        scales.sort(key=lambda scale: -float(np.ptp(scale.log_odds)))
        names = card.classes.tolist()
        display = cls(
            scales=scales[:max_terms],
            base=float(card.base[place] - card.base[other]),
            class_name=str(names[place]),
            other_name=str(names[other]),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        NomogramDisplay
            The display itself.
        """
        n_scales = len(self.scales)
        self.ax_ = new_axes("NomogramDisplay", 9.0, 1.8 + 0.52 * n_scales) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        ranges = np.array([np.ptp(scale.log_odds) for scale in self.scales])
        self.starts_ = np.array([scale.log_odds.min() for scale in self.scales])
        self.points_per_nat_ = _POINTS / float(ranges.max(initial=0.0) or 1.0)
        self._draw_scale(0, np.arange(0.0, _POINTS + 1, 10.0), [str(p) for p in range(0, 101, 10)])
        self.texts_: list[list[Text]] = []
        for row, (scale, start) in enumerate(zip(self.scales, self.starts_, strict=True), start=1):
            points = (scale.log_odds - start) * self.points_per_nat_
            self.texts_.append(self._draw_scale(row, points, scale.labels, scale.above))
        self._draw_sums(float(ranges.sum()), n_scales)
        names = ["points", *(plain_text(scale.name, 32) for scale in self.scales)]
        self.ax_.set_yticks(np.arange(len(names) + 2), [*names, "total points", "probability"])
        self.ax_.set(xlim=(-3.0, _POINTS + 3.0), ylim=(n_scales + 2.6, -0.8), xticks=[])
        self.ax_.tick_params(axis="y", length=0)
        for side in ("top", "right", "bottom", "left"):
            self.ax_.spines[side].set_visible(False)
        title = f"{plain_text(self.class_name, 30)} against {plain_text(self.other_name, 30)}"
        self.ax_.set_title(title)
        return self

    def _draw_sums(self, width: float, n_scales: int) -> None:
        """Draw the scales of the total points and of the probability, which share their ends."""
        most = width * self.points_per_nat_ or 1.0
        steps = _round_steps(0.0, most)
        steps = steps[(steps >= 0) & (steps <= most)]
        self._draw_scale(n_scales + 1, steps / most * _POINTS, [f"{step:g}" for step in steps])
        lowest = self.base + float(self.starts_.sum())
        chances = np.array(_CHANCES)
        wanted = (np.log(chances / (1 - chances)) - lowest) * self.points_per_nat_
        there = (wanted >= 0) & (wanted <= most)
        labels = [f"{chance:g}" for chance in chances[there].tolist()]
        self._draw_scale(n_scales + 2, wanted[there] / most * _POINTS, labels, whole=True)

    def _draw_scale(
        self,
        row: int,
        points: Floats,
        labels: Sequence[str],
        above: Sequence[bool] | None = None,
        *,
        whole: bool = False,
    ) -> list[Text]:
        """Draw a line with a mark for each value, and write the values that there is room for."""
        low, high = (0.0, _POINTS) if whole else (points.min(initial=0.0), points.max(initial=0.0))
        self.ax_.plot([low, high], [row, row], color="0.2", linewidth=1.0)
        taken: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        written = []
        for place, (x, label) in enumerate(zip(points.tolist(), labels, strict=True)):
            up = above is None or above[place]
            tick = -0.14 if up else 0.14
            self.ax_.plot([x, x], [row, row + tick], color="0.2", linewidth=0.8)
            text = plain_text(label, _LABEL_WIDTH)
            half = 0.5 * _CHARACTER * (len(text) + 1)
            if any(x - half < end and start < x + half for start, end in taken[up]):
                continue
            taken[up].append((x - half, x + half))
            written.append(
                self.ax_.text(
                    x,
                    row + 1.3 * tick,
                    text,
                    ha="center",
                    va="bottom" if up else "top",
                    fontsize="x-small",
                )
            )
        return written


def _other(card: Scorecard, place: int) -> int:
    """Return the most probable class of the average row besides one."""
    base = card.base.copy()
    base[place] = -np.inf
    return int(base.argmax())


def _scale(card: Scorecard, j: int, place: int, other: int) -> NomogramScale:
    """Return the values of a term on the scale of the log-odds of two classes."""
    term, drawn = card.terms[j], card.drawing(j)
    odds = _difference(drawn.scores, place, other)
    match drawn:
        case Bars():
            labels = list(drawn.labels)
            # Frequent values are written first, as there is no room for all.
            order = np.arange(len(labels))
            if drawn.counts is not None:
                order = np.argsort(-drawn.counts.sum(axis=1), kind="stable")
            return NomogramScale(
                term.name, [labels[i] for i in order], odds[order], [True] * len(labels)
            )
        case Curve():
            kind = card.schema.kinds[term.inputs[0]]
            labels, points, above = _numbers(drawn.x, odds, kind)
            if drawn.missing is not None:
                labels.append("(missing)")
                absent = _difference(drawn.missing, place, other)
                points, above = np.append(points, absent), [*above, True]
            return NomogramScale(term.name, labels, points, above)
        case HeatMap():
            pairs = [f"{a} & {b}" for a in drawn.labels for b in drawn.other_labels]
            flat = odds.ravel()
            order = np.argsort(flat)
            ends = np.unique([order[0], order[-1], *order[:: max(1, len(order) // 4)]])
            return NomogramScale(
                term.name, [pairs[i] for i in ends], flat[ends], [True] * len(ends)
            )


def _difference(scores: Floats, place: int, other: int) -> Floats:
    with np.errstate(invalid="ignore"):
        odds = scores[..., place] - scores[..., other]
    return np.clip(np.nan_to_num(odds, nan=0.0), -_FARTHEST, _FARTHEST)


def _numbers(x: Floats, odds: Floats, kind: Kind) -> tuple[list[str], Floats, list[bool]]:
    """Return round numbers on a curve, and the turning points between them.

    A jump has a place on both sides; the value itself is on the left one.
    """
    low, high = float(x[0]), float(x[-1])
    wanted = _round_steps(low, high, _N_NUMBERS)
    wanted = wanted[(wanted >= low) & (wanted <= high)]
    ends = x[[int(odds.argmin()), int(odds.argmax())]]
    values = np.unique(np.concatenate([wanted, ends]))
    places = np.clip(np.searchsorted(x, values, side="left"), 1, len(x) - 1)
    width = np.where(x[places] > x[places - 1], x[places] - x[places - 1], 1.0)
    share = np.clip((values - x[places - 1]) / width, 0.0, 1.0)
    points = odds[places - 1] + share * (odds[places] - odds[places - 1])
    # Both ends of the scale are there, also where they are the far side of a jump.
    points[values == ends[0]], points[values == ends[1]] = odds.min(), odds.max()
    rising = np.gradient(points, values) >= 0 if len(values) > 1 else np.array([True])
    return [number_text(value, kind, 4) for value in values.tolist()], points, rising.tolist()


def _round_steps(low: float, high: float, number: int = 10) -> Floats:
    from matplotlib.ticker import MaxNLocator

    return np.asarray(MaxNLocator(number).tick_values(low, high))
