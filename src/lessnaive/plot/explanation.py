"""Why one row is predicted as it is, as a waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from lessnaive.models.base import ScorecardClassifier
from lessnaive.plot.axes import check_drawable, class_place, new_axes, plain_text
from lessnaive.scorecard.terms.drawing import relative
from lessnaive.scorecard.terms.wording import value_text
from lessnaive.table import Table, read_table
from lessnaive.table.column import RowsOfColumn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Annotation

__all__ = ["ExplanationDisplay"]

# Colours of what speaks for a class and against it: also told apart by those who see no red.
_FOR, _AGAINST, _SUM = "#2166ac", "#b2182b", "0.45"


@dataclass(kw_only=True, eq=False, repr=False)
class ExplanationDisplay:
    """What each column of a row adds to the score of a class: from the average row to this one.

    A bar to the right speaks for the class, one to the left against it; behind it stands how
    probable the class is with the columns so far. It is best made with :meth:`from_estimator`. The
    arguments are kept as attributes.

    Parameters
    ----------
    contributions : array of shape (n_lines,)
        What each line adds to the score of the class, relative to the average training row and to
        the mean over the classes.
    names : sequence of str
        What the lines are: columns with their values.
    base : float, default=0.0
        The score of the average training row.
    probabilities : array of shape (1 + n_lines,), optional
        Probability of the class at the start and after each line.
    title : str, default=""
        What is written above.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the bars are: the average row on top, the row itself at the bottom.
    figure_ : matplotlib Figure or SubFigure
        The figure of the axes.
    bars_ : matplotlib BarContainer
        The contributions.
    ends_ : matplotlib BarContainer
        The scores of the average row and of this one.
    texts_ : list of matplotlib Annotation
        The numbers beside the bars.

    See Also
    --------
    lessnaive.Scorecard.explain : The same as numbers.

    Examples
    --------
    >>> from lessnaive import LessNaiveClassifier
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.plot import ExplanationDisplay
    >>> X, y = load_penguins("pandas")
    >>> model = LessNaiveClassifier().fit(X, y)
    >>> display = ExplanationDisplay.from_estimator(model, X, row=3)
    >>> display.names[0]
    'island = Torgersen'
    >>> display.title
    'Adelie: 99... %'
    """

    contributions: ArrayLike
    names: Sequence[str]
    base: float = 0.0
    probabilities: ArrayLike | None = None
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: ScorecardClassifier,
        X: Any,
        *,
        row: int = 0,
        class_: Any = None,
        max_terms: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw why a fitted model says what it says of a row.

        Parameters
        ----------
        estimator : classifier of lessnaive
            A fitted model.
        X : table of shape (n_samples, n_features)
            Rows.
        row : int, default=0
            Place of the row to explain.
        class_ : label of a class, optional
            The class whose score is drawn; by default the most probable one.
        max_terms : int, default=12
            Most columns that have a bar of their own: those that add most. The others share one.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        ExplanationDisplay
        """
        check_drawable(
            estimator, ScorecardClassifier, "ExplanationDisplay draws a classifier of lessnaive"
        )
        table = read_table(X)
        if not -table.n_rows <= row < table.n_rows:
            raise ValueError(f"row must be below {table.n_rows}, the number of rows, got {row}.")
        card = estimator.scorecard_
        one = _one_row(table, row % table.n_rows)
        scores = np.asarray(card.explain(one))[0]
        chance = softmax(scores.sum(axis=0))
        place = int(chance.argmax()) if class_ is None else class_place(card.classes, class_)
        steps = relative(scores)[:, place]
        order = 1 + np.argsort(-np.abs(steps[1:]), kind="stable")
        cells = [column.plain()[0] for column in card.schema.match(one, card.model)]
        kinds = card.schema.kinds
        names = [
            f"{term.name} = {' & '.join(value_text(cells[j], kinds[j]) for j in term.inputs)}"
            for term in card.terms
        ]
        shown, others = order[:max_terms], order[max_terms:]
        lines = [names[j - 1] for j in shown]
        added = [scores[j] for j in shown]
        if len(others):
            lines.append(f"{len(others)} other terms" if len(others) > 1 else names[others[0] - 1])
            added.append(scores[others].sum(axis=0))
        so_far = np.cumsum([scores[0], *added], axis=0)
        display = cls(
            contributions=relative(np.array(added).reshape(-1, len(chance)))[:, place],
            names=lines,
            base=float(steps[0]),
            probabilities=softmax(so_far, axis=1)[:, place],
            title=f"{card.classes.tolist()[place]}: {100 * chance[place]:.1f} %",
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
        ExplanationDisplay
            The display itself.
        """
        steps = np.asarray(self.contributions, dtype=np.float64)
        names = ["(average row)", *(plain_text(name) for name in self.names), "(this row)"]
        width = 5.0 + 0.08 * max(map(len, names))
        height = min(1.4 + 0.32 * len(names), 16.0)
        self.ax_ = new_axes("ExplanationDisplay", width, height) if ax is None else ax
        self.figure_: Figure | SubFigure = self.ax_.figure
        until = self.base + np.concatenate([[0.0], np.cumsum(steps)])
        places = np.arange(1, len(steps) + 1)
        shades = [_FOR if step >= 0 else _AGAINST for step in steps.tolist()]
        self.bars_: BarContainer = self.ax_.barh(
            places, steps, 0.7, left=until[:-1], color=shades, zorder=2
        )
        ends = [until[0], until[-1]]
        self.ends_: BarContainer = self.ax_.barh(
            [0, len(steps) + 1], ends, 0.7, color=_SUM, zorder=2
        )
        for place, x in enumerate(until.tolist()):
            self.ax_.plot(
                [x, x], [place - 0.35, place + 1.35], color="0.7", linewidth=0.8, zorder=1
            )
        self.ax_.axvline(0.0, color="0.3", linewidth=0.8, zorder=0)
        self._write(until, steps)
        self.ax_.set_yticks(np.arange(len(names)), names)
        self.ax_.set_ylim(len(names) - 0.4, -0.6)
        low, high = min(0.0, float(until.min())), max(0.0, float(until.max()))
        room = (high - low) or 1.0
        self.ax_.set_xlim(low - 0.04 * room, high + 0.34 * room)  # for the numbers
        self.ax_.set(xlabel="score relative to the mean over the classes (nats)")
        self.ax_.set_title(plain_text(self.title))
        return self

    def _write(self, until: np.ndarray[Any, Any], steps: np.ndarray[Any, Any]) -> None:
        """Write what each bar adds, and how probable the class is then."""
        chances = None if self.probabilities is None else np.asarray(self.probabilities).tolist()
        ends = [until[0], *np.maximum(until[:-1], until[1:]).tolist(), until[-1]]
        added = [f"{until[0]:+.2f}", *(f"{step:+.2f}" for step in steps), f"{until[-1]:+.2f}"]
        self.texts_: list[Annotation] = []
        for place, (x, text) in enumerate(zip(ends, added, strict=True)):
            if chances is not None:
                text += f"  ({100 * chances[min(place, len(chances) - 1)]:.1f} %)"
            written = self.ax_.annotate(
                text,
                (max(x, 0.0) if place in (0, len(ends) - 1) else x, place),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
            self.texts_.append(written)


def _one_row(table: Table, row: int) -> Table:
    place = np.array([row])
    return Table([RowsOfColumn(column, place) for column in table.columns], 1, table.named)
