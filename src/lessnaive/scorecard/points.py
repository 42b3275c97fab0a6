"""Points for credit scorecards: a scorecard of two classes as a table of whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard.terms import Term
from lessnaive.scorecard.terms.views import LabelledCells
from lessnaive.table.making import Backend, make_frame

__all__ = ["Points"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    r"""Points of a scorecard with two classes, by :meth:`~lessnaive.Scorecard.points`.

    The points of a row are

    .. math::
        \text{base} + \frac{\text{pdo}}{\log 2}
        \left( \log \frac{p(\text{good} \mid x)}{p(\text{bad} \mid x)} - \log \text{odds} \right),

    a sum over the terms: what a term adds to the log-odds, relative to the average training row,
    and an even share of the points of that row.

    Attributes
    ----------
    scorecard : Scorecard
        The scorecard.
    good : object
        The class that more points speak for.
    pdo, base, odds : float
        Points that double the odds, and the points that stand for given odds.
    rounded : bool
        Whether the points of each bin are whole numbers.
    cells : list of LabelledCells
        The bins of each term, with scores and counts of both classes.
    points : list of array
        The points of each bin, by term.

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> X = [["own"], ["own"], ["own"], ["rent"], ["rent"], [None]]
    >>> model = NaiveBayes().fit(X, ["good", "good", "bad", "bad", "bad", "good"])
    >>> points = model.scorecard_.points(good="good")
    >>> points.to_frame("pandas")[["column", "value", "points", "count"]]
      column      value  points  count
    0     x0  (missing)   487.0    1.0
    1     x0        own   510.0    3.0
    2     x0       rent   449.0    2.0
    3     x0   (unseen)   487.0    0.0
    >>> points.score(X)
    array([510., 510., 510., 449., 449., 487.])
    """

    scorecard: Any  # a Scorecard, which makes points of itself
    good: Any
    pdo: float
    base: float
    odds: float
    rounded: bool
    cells: list[LabelledCells]
    points: list[Floats]

    @classmethod
    def of(
        cls, scorecard: Any, pdo: float, base: float, odds: float, rounded: bool, good: Any
    ) -> Points:
        """Return the points of a scorecard, see :meth:`~lessnaive.Scorecard.points`."""
        classes = scorecard.classes.tolist()
        if len(classes) != 2:
            raise ValueError(f"Points are for two classes, and this model has {len(classes)}.")
        good = classes[0] if good is None else good
        if good not in classes:
            raise ValueError(f"good must be one of the classes {classes}, got {good!r}.")
        for name, value in (("pdo", pdo), ("odds", odds)):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be a number above 0, got {value!r}.")
        if not math.isfinite(base):
            raise ValueError(f"base must be a number, got {base!r}.")
        sign = np.array([1.0, -1.0]) if good == classes[0] else np.array([-1.0, 1.0])
        factor = pdo / math.log(2)
        average = base + factor * (float(scorecard.base @ sign) - math.log(odds))
        share = average / max(len(scorecard.terms), 1)
        cells = [term.labelled_cells(scorecard.schema.kinds) for term in scorecard.terms]
        exact = [
            share + factor * ((own.scores - mean) @ sign)
            for own, mean in zip(cells, scorecard.mean, strict=True)
        ]
        points = [np.round(own) + 0.0 for own in exact] if rounded else exact
        return cls(scorecard, good, pdo, base, odds, rounded, cells, points)

    def score(self, X: Any) -> Floats:
        """Points of each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        return np.asarray(self._card().joint_log_probability(X)[:, 0])

    def _card(self) -> Any:
        """Return a scorecard whose scores are points."""
        card = self.scorecard
        both = zip(card.terms, self.points, strict=True)
        terms: list[Term] = [term.with_cells(own[:, None]) for term, own in both]
        return type(card)(card.model, card.schema, np.array([self.good]), np.zeros(1), terms)

    def information_value(self) -> dict[str, float]:
        r"""Information value of each term, by its name.

        .. math::
            \sum_b \left( p(b \mid \text{good}) - p(b \mid \text{bad}) \right)
            \log \frac{p(b \mid \text{good})}{p(b \mid \text{bad})}

        over its bins b, with a total pseudo-count of 1 as in all tables of bins.
        """
        both = zip(self.scorecard.terms, self.cells, strict=True)
        return {term.name: float(self._evidence(own)[1].sum()) for term, own in both}

    def _evidence(self, cells: LabelledCells) -> tuple[Floats, Floats]:
        """Return the weight of evidence and the information value of each bin."""
        place = self.scorecard.classes.tolist().index(self.good)
        counts = cells.counts[:, [place, 1 - place]]
        seen = np.asarray(counts.any(axis=1))[:, None]
        shares = (counts + seen / max(seen.sum(), 1)) / (counts.sum(axis=0) + 1.0)
        safe = np.where(seen, shares, 1.0)
        woe = np.log(safe[:, 0] / safe[:, 1])
        return woe, (shares[:, 0] - shares[:, 1]) * woe

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the table of points.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed by default.

        Returns
        -------
        data frame with columns column, value, points, count, count[c] of each class, woe, iv
            One row for each bin, missing and unseen values included: its points, the weight of the
            training rows, its weight of evidence for the good class, and what it adds to the
            information value of the column.
        """
        columns = self.columns()
        return make_frame(columns, backend)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table of points as lists."""
        classes = self.scorecard.classes.tolist()
        names = ["column", "value", "points", "count", *(f"count[{c}]" for c in classes)]
        out: dict[str, list[Any]] = {name: [] for name in (*names, "woe", "iv")}
        for term, cells, points in zip(self.scorecard.terms, self.cells, self.points, strict=True):
            woe, value = self._evidence(cells)
            out["column"] += [term.name] * len(points)
            out["value"] += cells.labels
            out["points"] += points.tolist()
            out["count"] += cells.counts.sum(axis=1).tolist()
            for c, label in enumerate(classes):
                out[f"count[{label}]"] += cells.counts[:, c].tolist()
            out["woe"] += woe.tolist()
            out["iv"] += value.tolist()
        return out
