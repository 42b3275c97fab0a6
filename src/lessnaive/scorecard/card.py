"""The scorecard: the one object behind everything that is done with a fitted model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard.average_row import (
    FEW_SCORES,
    TermAverages,
    TypicalValues,
    averages_by_part,
    averages_from_plain,
    averages_of,
    averages_of_tables,
)
from lessnaive.scorecard.contributions import Contributions
from lessnaive.scorecard.points import Points
from lessnaive.scorecard.terms import LARGEST_SCORE, Term, term_from_plain
from lessnaive.scorecard.terms.base import Work
from lessnaive.scorecard.terms.drawing import Drawing, relative
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.table import Column, Schema, read_table
from lessnaive.table.column import RowsOfColumn, infinite_value
from lessnaive.table.making import Backend, make_frame

__all__ = ["MOST_OBSERVED", "Scorecard"]

#: Averages over more rows would be no better.
MOST_OBSERVED = 1 << 17
_OUTPUTS = {"joint": 0, "log_probability": 1, "probability": 2}


class Scorecard:
    """Intercepts plus terms: ``score_c(x) = b_c + sum_j s_j(x_j, c)``.

    Parameters
    ----------
    model : str
        Name of the model that it was made by.
    schema : Schema
        The columns that it expects.
    classes : array of shape (n_classes,)
        The classes.
    intercept : array of shape (n_classes,)
        The scores of a row without any evidence.
    terms : sequence of Term
        The evidence.
    averages : sequence of TermAverages, TypicalValues or None, optional
        What each term adds on average over the training rows, and how much that varies; or values
        of its column that stand for these rows; or None, for a term whose own counts say so.
    """

    def __init__(
        self,
        model: str,
        schema: Schema,
        classes: NDArray[Any],
        intercept: NDArray[np.float64],
        terms: Sequence[Term],
        averages: Sequence[TermAverages | TypicalValues | None] | None = None,
    ) -> None:
        self.model = model
        self.schema = schema
        self.classes = classes
        self.intercept = intercept
        self.terms = list(terms)
        self._averages = list(averages or [None] * len(self.terms))

    def __repr__(self) -> str:
        return f"<Scorecard of {self.model}: {len(self.classes)} classes, {len(self.terms)} terms>"

    def _repr_html_(self) -> str:
        """Return the strongest terms as a compact table, which notebooks show."""
        from lessnaive.scorecard.html import scorecard_html  # few need it

        return scorecard_html(self)

    def joint_log_probability(self, X: Any) -> NDArray[np.float64]:
        """Score of each row for each class: the log of P(x, class), up to a constant."""
        return self._score(X, "joint")

    def log_probability(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row."""
        return self._score(X, "log_probability")

    def probability(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row."""
        return self._score(X, "probability")

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; the first one where several tie."""
        return np.asarray(self.classes[self._score(X, "joint").argmax(axis=1)])

    def members(self) -> Iterator[tuple[float, Scorecard]]:
        """Yield the scorecards whose probabilities are averaged, with their weights: itself."""
        yield 1.0, self

    def score_columns(self, columns: Sequence[Column], n_rows: int) -> NDArray[np.float64]:
        """Score of each row for each class, given the columns of a table that was read already.

        Parameters
        ----------
        columns : sequence of Column
            The columns, in the order of the schema.
        n_rows : int
            Number of rows.

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        return _run(self.terms, columns, self.intercept, n_rows, "joint")

    @property
    def averages(self) -> list[TermAverages]:
        """What each term adds on average over the training rows, and how much that varies."""
        found = dict(self._counted_averages())
        known = [
            own if isinstance(own, TermAverages) else found.get(place) or self._averaged(term, own)
            for place, (term, own) in enumerate(zip(self.terms, self._averages, strict=True))
        ]
        self._averages = list(known)
        return known

    def _counted_averages(self) -> Iterator[tuple[int, TermAverages]]:
        """Yield the averages that are not known yet but that the counts of terms tell."""
        unknown = [place for place, own in enumerate(self._averages) if own is None]
        rows = ((place, self.terms[place].typical_rows()) for place in unknown)
        counted = {place: (own[0], own[1].sum(axis=1)) for place, own in rows if own is not None}
        return zip(counted, averages_of_tables(list(counted.values())), strict=True)

    @property
    def mean(self) -> NDArray[np.float64]:
        """What each term adds on average over the training rows: (n_terms, n_classes)."""
        return np.array([own.mean for own in self.averages]).reshape(-1, len(self.classes))

    @property
    def importance(self) -> NDArray[np.float64]:
        r"""Mean absolute centred contribution of each term: (n_terms,).

        .. math::
            I_j = \frac{1}{W} \sum_i w_i \; \frac{1}{C} \sum_c \left| d_{ijc} - \bar d_{jc} \right|
            \qquad d_{ijc} = s_j(x_{ij}, c) - \frac{1}{C} \sum_k s_j(x_{ij}, k)

        over the training rows i, with weights :math:`w_i` of sum W, and the classes c. It is in
        the unit of the scores, never negative, and means the same in all models. NaN stands for
        one that is not known: of a line in a model file that is older than this number.
        """
        return np.array([own.importance for own in self.averages])

    @property
    def base(self) -> NDArray[np.float64]:
        """The scores of the average training row: the intercept and the means of all terms."""
        return np.asarray(self.intercept + self.mean.sum(axis=0))

    @property
    def intercept_name(self) -> str:
        """What the intercept is: "(prior)" where it holds the logarithms of probabilities."""
        is_prior = abs(np.exp(np.minimum(self.intercept, 1.0)).sum() - 1.0) < 1e-9
        return "(prior)" if is_prior else "(intercept)"

    def column_importance(self) -> NDArray[np.float64]:
        """Return the importance of each column of the schema: that of its terms.

        A pair of columns gives half of its importance to each; a column without a term has none.
        """
        out = np.zeros(len(self.schema))
        for term, importance in zip(self.terms, self.importance.tolist(), strict=True):
            out[list(term.inputs)] += importance / len(term.inputs)
        return out

    def observe(
        self, columns: Sequence[Column], n_rows: int, weights: NDArray[np.float64] | None
    ) -> None:
        """Learn from the training rows what terms add on average, where counts do not say so.

        Of more than 131,072 rows, as many at even distances are looked at.

        Parameters
        ----------
        columns : sequence of Column
            The columns of the training table, in the order of the schema.
        n_rows : int
            Number of rows.
        weights : array of shape (n_rows,) or None
            Weights of the rows.
        """
        n_classes = len(self.classes)
        if n_rows > MOST_OBSERVED and not all(term.is_counted for term in self.terms):
            rows = np.linspace(0, n_rows - 1, MOST_OBSERVED).astype(np.intp)
            columns = [RowsOfColumn(column, rows) for column in columns]
            n_rows, weights = len(rows), None if weights is None else weights[rows]
        for term in self.terms:
            term.observe([columns[j] for j in term.inputs], weights)
        places = [place for place, term in enumerate(self.terms) if not term.is_counted]
        if not places:
            return
        scorers = [_scorer(self.terms[place], columns, n_rows, n_classes) for place in places]
        if n_rows * n_classes <= FEW_SCORES:
            own = np.ones(n_rows) if weights is None else weights
            found = averages_of_tables([(score(slice(n_rows)), own) for score in scorers])
        else:
            found = [averages_by_part(score, n_rows, n_classes, weights) for score in scorers]
        for place, averages in zip(places, found, strict=True):
            self._averages[place] = averages

    def part(self, places: Sequence[int], weights: NDArray[np.float64] | None = None) -> Scorecard:
        """Return a scorecard of some of the terms, times weights.

        Parameters
        ----------
        places : sequence of int
            Places of the terms.
        weights : array of shape (n_places, n_classes), optional
            Weights of these terms.

        Returns
        -------
        Scorecard
        """
        terms, averages = [self.terms[j] for j in places], [self._averages[j] for j in places]
        if weights is not None:
            terms = [term.scaled(own) for term, own in zip(terms, weights, strict=True)]
            both = zip(averages, weights, strict=True)
            averages = [known and known.scaled(own) for known, own in both]
        return Scorecard(self.model, self.schema, self.classes, self.intercept, terms, averages)

    def weighted(self, weights: NDArray[np.float64]) -> Scorecard:
        """Return a scorecard of weighted terms, without those of weight 0 in all classes.

        Parameters
        ----------
        weights : array of shape (n_terms,) or (n_classes, n_terms)
            Weight of each term, in all classes or in each.

        Returns
        -------
        Scorecard
        """
        by_term = np.broadcast_to(weights, (len(self.classes), len(self.terms))).T
        kept = np.flatnonzero(by_term.any(axis=1)).tolist()
        return self.part(kept, by_term[kept])

    def _averaged(self, term: Term, typical: TypicalValues | None) -> TermAverages:
        """Averages over typical rows; nothing is known where there are none."""
        zero = np.zeros(len(self.classes))
        if typical is None:
            return TermAverages(zero, np.nan)
        values, weights = typical.points()
        columns = read_table(values[:, None]).columns * (1 + max(term.inputs))
        return averages_of(_run([term], columns, zero, len(values), "joint"), weights)

    def explain(self, X: Any, *, centred: bool = True) -> Contributions:
        """Contribution of each column to the score of each class, row by row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows to explain.
        centred : bool, default=True
            Whether contributions are relative to the average training row: what a term adds, less
            what it adds there. A missing value then shows what its absence changes against the
            average. If False, the terms as they are.

        Returns
        -------
        Contributions
            An array of shape (n_samples, 1 + n_terms, n_classes): first the scores of the average
            training row, "(base)", or the intercept if not centred; then the terms. Its sum over
            axis 1 is what :meth:`joint_log_probability` returns.
        """
        table = read_table(X)
        columns = self.schema.match(table, self.model)
        out = np.empty((table.n_rows, 1 + len(self.terms), len(self.classes)))
        out[:, 0] = self.base if centred else self.intercept
        zero, codes = np.zeros_like(self.intercept), _shared_codes(self.terms, columns)
        for place, term in enumerate(self.terms, start=1):
            out[:, place] = _run([term], columns, zero, table.n_rows, "joint", codes)
        if centred:
            out[:, 1:] -= self.mean
        first = "(base)" if centred else self.intercept_name
        names = [first, *(term.name for term in self.terms)]
        return Contributions(out, names, self.classes)

    def points(
        self,
        pdo: float = 20,
        base: float = 600,
        odds: float = 50,
        rounded: bool = True,
        *,
        good: Any = None,
    ) -> Points:
        """Return a scorecard of two classes as points, as risk departments have them.

        Parameters
        ----------
        pdo : float, default=20
            Points that double the odds.
        base : float, default=600
            The points that stand for `odds`.
        odds : float, default=50
            The odds, good to bad, that have `base` points.
        rounded : bool, default=True
            Whether the points of each bin are rounded to whole numbers.
        good : object, optional
            The class that more points speak for; the first one by default, as the second one is
            the event in scikit-learn.

        Returns
        -------
        Points
            The table of points (``to_frame``), with weights of evidence and information values, and
            the points of rows (``score``).
        """
        return Points.of(self, pdo, base, odds, rounded, good)

    def tables(self, backend: Backend | None = None, *, centred: bool = False) -> Any:
        """All terms as one tidy data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed by default.
        centred : bool, default=False
            Whether scores are relative to the average training row, as :meth:`explain` gives them;
            if not, they add up to the score of a row together with the intercept.

        Returns
        -------
        data frame with columns column, value, class, score, count
            One row per term, value and class. For a numeric column ``value`` reads "mean ± standard
            deviation" and ``score`` is the log-density at the mean. For a line, ``score`` is what
            one standard deviation adds, and the way from the 10th to the 90th percentile.
        """
        columns: dict[str, list[Any]] = {
            key: [] for key in ("column", "value", "class", "score", "count")
        }
        classes = self.classes.tolist()
        mean = self.mean if centred else np.zeros((len(self.terms), len(self.classes)))
        for term, middle in zip(self.terms, mean, strict=True):
            for label, raw, counts, is_difference in term.rows(self.schema.kinds):
                scores = raw if is_difference else raw - middle
                shown = ~np.isnan(scores)
                columns["column"] += [term.name] * int(shown.sum())
                columns["value"] += [label] * int(shown.sum())
                columns["class"] += [c for c, show in zip(classes, shown, strict=True) if show]
                columns["score"] += scores[shown].tolist()
                columns["count"] += counts[shown].tolist()
        return make_frame(columns, backend)

    def drawing(self, place: int) -> Drawing:
        """Return what a term looks like: bars, curves or a heat map.

        Parameters
        ----------
        place : int
            Place of the term.

        Returns
        -------
        Bars, Curve or HeatMap
            With scores relative to the average training row and to the mean over the classes.
        """
        drawn = self.terms[place].drawing(self.schema.kinds)
        return drawn.map_scores(relative, self.averages[place].mean)

    def to_plain(self) -> dict[str, Any]:
        """Return the scorecard as plain data."""
        return {
            "schema": self.schema.to_plain(),
            "classes": array_to_plain(self.classes),
            "intercept": self.intercept.tolist(),
            "terms": [term.to_plain() for term in self.terms],
            "mean": self.mean.tolist(),
            "importance": [None if np.isnan(i) else i for i in self.importance.tolist()],
        }

    @classmethod
    def from_plain(cls, model: str, node: Node) -> Self:
        """Return the scorecard that plain data describes.

        Parameters
        ----------
        model : str
            Name of the model that it was made by.
        node : Node
            What :meth:`to_plain` returned.

        Returns
        -------
        Scorecard
        """
        keys = ("schema", "classes", "intercept", "terms")
        fields = node.record(*keys, optional=["mean", "importance"])
        schema = Schema.from_plain(fields["schema"])
        classes = classes_from_plain(fields["classes"])
        n_classes = len(classes)
        intercept = fields["intercept"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE)
        terms = [term_from_plain(item, schema, n_classes) for item in fields["terms"].items()]
        averages = averages_from_plain(fields, len(terms), n_classes)
        return cls(model, schema, classes, intercept, terms, averages)

    def _score(self, X: Any, output: str) -> NDArray[np.float64]:
        table = read_table(X)
        columns = self.schema.match(table, self.model)
        return _run(self.terms, columns, self.intercept, table.n_rows, output)


def classes_from_plain(node: Node) -> NDArray[Any]:
    """Return the classes that plain data describes; ModelFormatError if it describes none."""
    classes = node.array()
    if classes.ndim != 1 or len(classes) == 0:
        raise node.error("expected a list of one class or more")
    labels = classes.tolist()
    try:
        ordered = all(first < second for first, second in pairwise(labels))
    except TypeError:
        ordered = False
    if not ordered:
        raise node.error("the classes are not in ascending order, each of them once")
    return classes


def _scorer(
    term: Term, columns: Sequence[Column], n_rows: int, n_classes: int
) -> Callable[[slice], NDArray[np.float64]]:
    """Return what scores some rows by one term."""
    zero = np.zeros(n_classes)

    def score(rows: slice) -> NDArray[np.float64]:
        places = np.arange(*rows.indices(n_rows))
        if len(places) == n_rows:
            return _run([term], columns, zero, n_rows, "joint")
        some = list(columns)
        for j in term.inputs:
            some[j] = RowsOfColumn(columns[j], places)
        return _run([term], some, zero, len(places), "joint")

    return score


def _shared_codes(
    terms: Sequence[Term], columns: Sequence[Column], *, with_curves: bool = False
) -> SharedCodes:
    """Return where the codes of columns are kept that several terms look at."""
    uses = Counter(place for term in terms for place in term.inputs)
    several = [columns[place] for place, number in uses.items() if number > 1]
    return SharedCodes(several, with_curves=with_curves)


def _run(
    terms: Sequence[Term],
    columns: Sequence[Column],
    intercept: NDArray[np.float64],
    n_rows: int,
    output: str,
    codes: SharedCodes | None = None,
) -> NDArray[np.float64]:
    codes = codes or _shared_codes(terms, columns, with_curves=True)
    operands = [term.operand([columns[i] for i in term.inputs], codes) for term in terms]
    work = Work.of(operands)
    out = np.empty((n_rows, len(intercept)))
    infinite = _core.score(
        [lookup.codes for lookup in work.lookups.values()],
        [lookup.shift for lookup in work.lookups.values()],
        [lookup.table for lookup in work.lookups.values()],
        [quadratic.values for quadratic in work.quadratics.values()],
        [quadratic.parameters for quadratic in work.quadratics.values()],
        intercept,
        _OUTPUTS[output],
        out,
        list(work.curves.values()),
        list(work.pairs.values()),
    )
    if infinite >= 0:
        place = [*work.quadratics, *work.curves][infinite]
        raise infinite_value(columns[terms[place].inputs[0]].name)
    return out
