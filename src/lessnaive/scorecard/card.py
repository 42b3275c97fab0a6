"""The scorecard: the one object behind everything that is done with a fitted model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard.terms import LARGEST_SCORE, Term, term_from_plain
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.scorecard.terms.operands import Work
from lessnaive.table import Column, Schema, read_table
from lessnaive.table.column import infinite_value
from lessnaive.table.making import Backend, make_frame

__all__ = ["Contributions", "Scorecard"]

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
    """

    def __init__(
        self,
        model: str,
        schema: Schema,
        classes: NDArray[Any],
        intercept: NDArray[np.float64],
        terms: Sequence[Term],
    ) -> None:
        self.model = model
        self.schema = schema
        self.classes = classes
        self.intercept = intercept
        self.terms = list(terms)

    def __repr__(self) -> str:
        return f"<Scorecard of {self.model}: {len(self.classes)} classes, {len(self.terms)} terms>"

    def joint_log_probability(self, X: Any) -> NDArray[np.float64]:
        """Score of each row for each class: the log of P(x, class), up to a constant."""
        return self._score(X, "joint")

    def log_probability(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row."""
        return self._score(X, "log_probability")

    def probability(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row."""
        return self._score(X, "probability")

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

    def explain(self, X: Any) -> Contributions:
        """Contribution of each column to the score of each class, row by row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows to explain.

        Returns
        -------
        Contributions
            An array of shape (n_samples, 1 + n_terms, n_classes): the intercept, then the terms.
            Its sum over axis 1 is what :meth:`joint_log_probability` returns.
        """
        table = read_table(X)
        columns = self.schema.match(table, self.model)
        out = np.empty((table.n_rows, 1 + len(self.terms), len(self.classes)))
        out[:, 0] = self.intercept
        zero, codes = np.zeros_like(self.intercept), _shared_codes(self.terms, columns)
        for place, term in enumerate(self.terms, start=1):
            out[:, place] = _run([term], columns, zero, table.n_rows, "joint", codes)
        names = ["(prior)", *(term.name for term in self.terms)]
        return Contributions(out, names, self.classes)

    def tables(self, backend: Backend | None = None) -> Any:
        """All terms as one tidy data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed by default.

        Returns
        -------
        data frame with columns column, value, class, score, count
            One row per term, value and class. For a numeric column ``value`` reads "mean ± standard
            deviation" and ``score`` is the log-density at the mean.
        """
        columns: dict[str, list[Any]] = {
            key: [] for key in ("column", "value", "class", "score", "count")
        }
        classes = self.classes.tolist()
        for term in self.terms:
            for label, scores, counts in term.rows():
                shown = ~np.isnan(scores)
                columns["column"] += [term.name] * int(shown.sum())
                columns["value"] += [label] * int(shown.sum())
                columns["class"] += [c for c, show in zip(classes, shown, strict=True) if show]
                columns["score"] += scores[shown].tolist()
                columns["count"] += counts[shown].tolist()
        return make_frame(columns, backend)

    def to_plain(self) -> dict[str, Any]:
        """Return the scorecard as plain data."""
        return {
            "schema": self.schema.to_plain(),
            "classes": array_to_plain(self.classes),
            "intercept": self.intercept.tolist(),
            "terms": [term.to_plain() for term in self.terms],
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
        fields = node.record("schema", "classes", "intercept", "terms")
        schema = Schema.from_plain(fields["schema"])
        classes = classes_from_plain(fields["classes"])
        n_classes = len(classes)
        return cls(
            model,
            schema,
            classes,
            fields["intercept"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            [term_from_plain(item, schema, n_classes) for item in fields["terms"].items()],
        )

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


def _shared_codes(terms: Sequence[Term], columns: Sequence[Column]) -> SharedCodes:
    """Return where the codes of columns are kept that several terms look at."""
    uses = Counter(place for term in terms for place in term.inputs)
    return SharedCodes([columns[place] for place, number in uses.items() if number > 1])


def _run(
    terms: Sequence[Term],
    columns: Sequence[Column],
    intercept: NDArray[np.float64],
    n_rows: int,
    output: str,
    codes: SharedCodes | None = None,
) -> NDArray[np.float64]:
    codes = codes or _shared_codes(terms, columns)
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


class Contributions(np.ndarray[Any, np.dtype[np.float64]]):
    """Contributions to scores: an array of shape (n_rows, 1 + n_terms, n_classes) with labels.

    Attributes
    ----------
    names : list of str
        "(prior)", then the names of the terms.
    classes : array
        The classes.
    """

    names: list[str]
    classes: NDArray[Any]

    def __new__(
        cls, values: NDArray[np.float64], names: list[str], classes: NDArray[Any]
    ) -> Contributions:
        """Label an array."""
        out = values.view(cls)
        out.names, out.classes = names, classes
        return out

    def __array_finalize__(self, source: Any) -> None:
        """Pass the labels on to views."""
        self.names = getattr(source, "names", [])
        self.classes = getattr(source, "classes", np.empty(0))

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a tidy data frame with columns row, column, class, contribution."""
        n_rows, n_terms, n_classes = self.shape
        return make_frame(
            {
                "row": np.repeat(np.arange(n_rows), n_terms * n_classes).tolist(),
                "column": np.tile(np.repeat(self.names, n_classes), n_rows).tolist(),
                "class": np.tile(self.classes, n_rows * n_terms).tolist(),
                "contribution": np.asarray(self).ravel().tolist(),
            },
            backend,
        )
