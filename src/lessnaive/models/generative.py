"""What naive Bayes counts, and the scorecard that follows from it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Protocol, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive import _core
from lessnaive.encoding.binning import Binning, Discretization, find_binnings
from lessnaive.encoding.encodings import Values
from lessnaive.likelihood.bernoulli import bernoulli_log_likelihood, broadcast_beta
from lessnaive.likelihood.categorical import categorical_log_likelihood
from lessnaive.likelihood.gaussian import fit_gaussian
from lessnaive.likelihood.logarithm import log_ratio
from lessnaive.likelihood.statistics import (
    ColumnStatistics,
    ValueCounts,
    ValueMoments,
    update_all,
)
from lessnaive.plain import Node
from lessnaive.scorecard import QuadraticTerm, Scorecard, TableTerm, Term
from lessnaive.table import Column, Kind, Schema, Table
from lessnaive.table.schema import categorical_columns
from lessnaive.table.training import Training, no_values

__all__ = [
    "GenerativeParameters",
    "NaiveBayesStatistics",
    "check_parameters",
    "learn",
    "log_prior",
    "make_scorecard",
]


class GenerativeParameters(Protocol):
    """Parameters of an estimator that say how counts become likelihoods."""

    numeric: str
    categorical: str
    n_bins: int
    smoothing: float | str
    beta: tuple[ArrayLike, ArrayLike] | None
    priors: str | ArrayLike
    missing: str
    variance_floor: float


class NaiveBayesStatistics:
    """Class counts and the statistics of each column: sums over rows.

    Parameters
    ----------
    schema : Schema
        The columns.
    classes : array of shape (n_classes,)
        The classes, sorted.
    fixed : bool, default=False
        Whether no other class may come.
    """

    def __init__(self, schema: Schema, classes: NDArray[Any], *, fixed: bool = False) -> None:
        self.schema = schema
        self.classes = classes
        self.fixed = fixed
        self.class_count = np.zeros(len(classes))
        self.columns: list[ColumnStatistics | Binning] = [
            self._empty(j) for j in range(len(schema))
        ]

    @property
    def additive(self) -> list[ColumnStatistics]:
        """Statistics of the columns to which rows can be added."""
        return [column for column in self.columns if not isinstance(column, Binning)]

    @property
    def is_additive(self) -> bool:
        """Whether rows can be added to all columns: bins are found once, from all the rows."""
        return len(self.additive) == len(self.schema)

    @classmethod
    def start(
        cls, schema: Schema, found: NDArray[Any], classes: ArrayLike | None
    ) -> NaiveBayesStatistics:
        """Statistics without rows, for the classes given or found in a first batch."""
        if classes is None:
            return cls(schema, found)
        return cls(schema, np.unique(np.asarray(classes)), fixed=True)

    def _empty(self, j: int) -> ColumnStatistics:
        n_classes = len(self.classes)
        if not self.schema.categorical[j]:
            return ValueMoments(n_classes)
        levels = (False, True) if self.schema.kinds[j] is Kind.BOOLEAN else ()
        return ValueCounts(n_classes, levels)

    def update(
        self,
        columns: Sequence[Column],
        labels: NDArray[Any],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Add rows; on error nothing is added."""
        pairs = zip(self.columns, columns, strict=True)
        counted = [column for mine, column in pairs if not isinstance(mine, Binning)]
        update_all(self.additive, counted, labels, weights)
        everything = np.broadcast_to(np.uint8(0), len(labels))
        _core.count([everything], [0], labels, weights, [self.class_count[None]])

    def with_classes(self, found: NDArray[Any]) -> tuple[NaiveBayesStatistics, NDArray[np.int64]]:
        """Statistics that know these classes too (a copy if some are new), and their places."""
        known = {label: place for place, label in enumerate(self.classes.tolist())}
        new = [label for label in found.tolist() if label not in known]
        if not new:
            places = [known[label] for label in found.tolist()]
            return self, np.array(places, dtype=np.int64)
        if self.fixed:
            raise ValueError(
                f"y holds the class {new[0]!r}, which is not among the classes given in the first "
                f"call of partial_fit: {self.classes.tolist()}."
            )
        if len({isinstance(label, str) for label in (*known, *new)}) > 1:
            raise ValueError(
                f"Unknown label type: y holds {new[0]!r}, but the classes so far are "
                f"{self.classes.tolist()}: convert all labels to one type."
            )
        classes = np.unique(np.concatenate([self.classes, found]))
        grown = copy.deepcopy(self)
        moved = np.searchsorted(classes, self.classes)
        grown.classes = classes
        count = np.zeros(len(classes))
        count[moved] = self.class_count
        grown.class_count = count
        for column in grown.additive:
            column.spread_classes(moved, len(classes))
        return grown, np.searchsorted(classes, found)

    def resolved(self, table: Table, categorical_features: Any) -> NaiveBayesStatistics:
        """Return statistics in which columns that had no values yet are of the kind they turn out.

        Kinds of columns that hold text now and numbers later become mixed. A copy if any changes.
        """
        columns = table.columns
        if self.schema.named and table.named:
            place = {column.name: column for column in table.columns}
            columns = [place[name] for name in self.schema.names if name in place]
        if len(columns) != len(self.schema):
            return self  # an error, for the schema to report
        categorical = categorical_columns(columns, self.schema.names, categorical_features)
        out = self
        for j, column in enumerate(columns):
            if column.kind in (Kind.EMPTY, self.schema.kinds[j]):
                continue
            kind = _joined(self.schema, j, column.kind)
            if self.columns[j].has_values() and kind is None:
                continue
            out = copy.deepcopy(self) if out is self else out
            out.schema.kinds[j] = kind or column.kind
            if not self.columns[j].has_values():
                out.schema.kinds[j] = column.kind
                out.schema.categorical[j] = categorical[j]
                fresh = out._empty(j)
                fresh.missing[:] = self.columns[j].missing
                out.columns[j] = fresh
        return out

    def to_plain(self) -> dict[str, Any]:
        """Return the statistics as plain data, without the schema and the classes."""
        return {
            "fixed_classes": self.fixed,
            "class_count": self.class_count.tolist(),
            "columns": [c.to_plain() for c in self.additive] if self.is_additive else None,
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, classes: NDArray[Any]) -> Self:
        """Return the statistics that plain data describes; ModelFormatError if it describes none.

        Parameters
        ----------
        node : Node
            What :meth:`to_plain` returned.
        schema : Schema
            The columns.
        classes : array of shape (n_classes,)
            The classes, sorted.

        Returns
        -------
        NaiveBayesStatistics
        """
        fields = node.record("fixed_classes", "class_count", "columns")
        out = cls(schema, classes, fixed=fields["fixed_classes"].flag())
        out.class_count = fields["class_count"].numbers(len(classes), 0.0)
        if fields["columns"].is_null():
            out.columns = []
            return out
        items = fields["columns"].items()
        if len(items) != len(schema):
            raise fields["columns"].error(f"expected {len(schema)} columns, got {len(items)}")
        out.columns = [
            empty.from_plain(item, len(classes))
            for empty, item in zip(out.additive, items, strict=True)
        ]
        return out


def learn(parameters: GenerativeParameters, training: Training) -> NaiveBayesStatistics:
    """Count what the parameters ask for, having found bins and groups where they ask for these.

    Parameters
    ----------
    parameters : estimator
        Says which likelihood each kind of column has.
    training : Training
        The rows.

    Returns
    -------
    NaiveBayesStatistics
    """
    schema = training.schema
    statistics = NaiveBayesStatistics(schema, training.classes)
    binned = parameters.numeric in get_args(Discretization)
    binnings = find_binnings(
        training,
        cast(Discretization, parameters.numeric) if binned else None,
        group=parameters.categorical == "modl",
        use_missing=parameters.missing == "category",
        n_bins=parameters.n_bins,
    )
    for j, binning in binnings.items():
        statistics.columns[j] = binning
    statistics.update(training.table.columns, training.labels, training.weights)
    for name, column in zip(schema.names, statistics.columns, strict=True):
        if not column.has_values():
            raise no_values(name)
    return statistics


def _joined(schema: Schema, j: int, kind: Kind) -> Kind | None:
    """Return the kind of a categorical column that holds numbers and text in turn."""
    together = {schema.kinds[j], kind}
    if schema.categorical[j] and together <= {Kind.NUMBER, Kind.TEXT, Kind.MIXED}:
        return Kind.MIXED
    return None


def log_prior(priors: str | ArrayLike, class_count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probability of each class.

    Parameters
    ----------
    priors : str or array-like
        "smoothed": (N_c + 1/C) / (N + 1); "laplace": (N_c + 1) / (N + C); "empirical": N_c / N;
        "uniform": 1 / C; or the probabilities themselves.
    class_count : array of shape (n_classes,)
        Weight of each class.

    Returns
    -------
    array of shape (n_classes,)
    """
    n_classes = len(class_count)
    if isinstance(priors, str):
        if priors == "uniform":
            return np.full(n_classes, -np.log(n_classes))
        each = {"smoothed": 1.0 / n_classes, "laplace": 1.0, "empirical": 0.0}[priors]
        return log_ratio(class_count + each, class_count.sum() + each * n_classes)
    _check_priors(priors, n_classes)
    return log_ratio(np.asarray(priors, dtype=np.float64), 1.0)


def check_parameters(parameters: GenerativeParameters, statistics: NaiveBayesStatistics) -> None:
    """Raise ValueError if class probabilities or Beta priors do not fit the classes and columns."""
    n_classes = len(statistics.classes)
    _check_priors(parameters.priors, n_classes)
    if parameters.beta is not None:
        broadcast_beta(parameters.beta, n_classes, len(statistics.schema))


def _check_priors(priors: str | ArrayLike, n_classes: int) -> None:
    """Raise ValueError if the class probabilities are given and do not make sense."""
    if isinstance(priors, str):
        return
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != (n_classes,):
        raise ValueError(
            f"priors has shape {given.shape}, but there are {n_classes} classes: give one "
            "probability per class."
        )
    if not ((given >= 0).all() and abs(given.sum() - 1.0) < 1e-8):
        raise ValueError("priors must be non-negative numbers that sum to 1.")


def make_scorecard(parameters: GenerativeParameters, statistics: NaiveBayesStatistics) -> Scorecard:
    """Turn statistics into scores.

    Parameters
    ----------
    parameters : estimator
        Says how: smoothing, priors and so on.
    statistics : NaiveBayesStatistics
        What was counted.

    Returns
    -------
    Scorecard
    """
    schema = statistics.schema
    beta = None
    if parameters.beta is not None:
        beta = broadcast_beta(parameters.beta, len(statistics.classes), len(schema))
    terms: list[Term] = []
    for j, column in enumerate(statistics.columns):
        if isinstance(column, Binning):
            terms.append(_binned_term(parameters, schema.names[j], j, column))
        elif isinstance(column, ValueMoments):
            terms.append(_gaussian_term(parameters, schema.names[j], j, column))
        else:
            column_beta = None if beta is None else beta[:, :, j]
            terms.append(_table_term(parameters, schema.names[j], j, column, column_beta))
    prior = log_prior(parameters.priors, statistics.class_count)
    model = type(parameters).__name__
    return Scorecard(model, copy.deepcopy(schema), statistics.classes, prior, terms)


def _table_term(
    parameters: GenerativeParameters,
    name: str,
    place: int,
    column: ValueCounts,
    beta: NDArray[np.float64] | None,
) -> TableTerm:
    levels, counts = column.observed()
    n_classes = len(column.missing)
    scores = np.zeros((len(levels) + 2, n_classes))
    if parameters.missing == "category" and column.missing.any():
        everything = np.concatenate([column.missing[None], counts])
        scores[:-1] = categorical_log_likelihood(everything, parameters.smoothing)
    elif len(levels) == 2 and beta is not None:
        scores[1:-1] = bernoulli_log_likelihood(counts, *beta)
    elif levels:
        scores[1:-1] = categorical_log_likelihood(counts, parameters.smoothing)
    all_counts = np.concatenate([column.missing[None], counts, np.zeros((1, n_classes))])
    return TableTerm(name, (place,), Values(levels), scores, all_counts)


def _binned_term(
    parameters: GenerativeParameters, name: str, place: int, binning: Binning
) -> TableTerm:
    n_bins, n_classes = binning.counts.shape
    scores = np.zeros((n_bins + 2, n_classes))
    if binning.missing_apart:
        everything = np.concatenate([binning.missing[None], binning.counts])
        scores[:-1] = categorical_log_likelihood(everything, parameters.smoothing)
    else:
        counts = binning.counts.copy()
        if binning.missing_bin is not None:
            counts[binning.missing_bin] += binning.missing
        scores[1:-1] = categorical_log_likelihood(counts, parameters.smoothing)
        if binning.missing_bin is not None and binning.missing.any():
            scores[0] = scores[1 + binning.missing_bin]
    nothing = np.zeros((1, n_classes))
    counts = np.concatenate([binning.missing[None], binning.counts, nothing])
    return TableTerm(name, (place,), binning.encoding, scores, counts)


def _gaussian_term(
    parameters: GenerativeParameters, name: str, place: int, column: ValueMoments
) -> QuadraticTerm:
    gaussian = fit_gaussian(
        column.moments,
        shared=parameters.numeric == "gaussian_shared",
        variance_floor=parameters.variance_floor,
    )
    offset = gaussian.log_peak
    missing = np.zeros_like(offset)
    counts = np.stack([column.missing, column.moments[:, 0]])
    if parameters.missing == "category" and column.missing.any():
        missing, present = categorical_log_likelihood(counts, parameters.smoothing)
        offset = offset + present
    values = np.stack([offset, gaussian.mean, gaussian.scale, missing])
    return QuadraticTerm(name, (place,), values, counts)
