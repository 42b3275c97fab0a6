"""The evidence of a table, as the core keeps it, and its loss if it is weighted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from lessnaive import _core
from lessnaive.evidence.leave_one_out import OwnEvidence
from lessnaive.loss.base import Curvature, CurvatureMap, Lipschitz, Loss
from lessnaive.loss.evidence_curvature import EvidenceCurvature
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms.base import Operand, Work
from lessnaive.table import Column
from lessnaive.table.column import infinite_value
from lessnaive.table.training import Training

if TYPE_CHECKING:
    from lessnaive.loss.parted import PartedEvidence
    from lessnaive.table.parts import PartedTraining

__all__ = ["WeightedEvidenceLoss", "gather_evidence", "training_evidence"]

Floats = NDArray[np.float64]

# A row that loses less than this share of what another gains counts as one that does not lose.
_ROUNDING = 1e-6
# Curvatures below these shares of the largest count as none, in turn, while a direction is sought.
_FLAT = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
# Most weights for which this is done.
_MOST_WEIGHTS = 1000
# Of larger matrices only the largest eigenvalue is found, which takes far less time than all.
_MOST_EIGENVALUES = 300
# With more columns that say something, matrices of their products have no room.
_MOST_IN_GRAMS = 2000
# Largest linear program that is solved to find a direction that separates.
_MOST_CELLS = 5_000_000
# Curvature can do without products of probabilities that are this share of those of a rare class.
_NEGLIGIBLE = 1e-3
# With so many classes and moving weights, a matrix costs more than conjugate gradients that begin
# with the second derivatives of each class.
_MANY_CLASSES = 32
_MANY_WEIGHTS = 300


def gather_evidence(
    scorecard: Scorecard,
    columns: Sequence[Column],
    labels: NDArray[Any],
    weights: Floats | None,
    own: OwnEvidence | None = None,
) -> _core.Evidence:
    """Pack what the terms of a scorecard say about each row.

    Parameters
    ----------
    scorecard : Scorecard
        The terms are the columns of the evidence, and get a weight each.
    columns : sequence of Column
        The table, as the scorecard expects it.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,) or None
        Sample weights.
    own : OwnEvidence, optional
        Evidence for the own class of each row, if it differs.

    Returns
    -------
    _core.Evidence
    """
    operands: list[Operand] = []
    own_terms: list[Floats | None] = []
    for place, term in enumerate(scorecard.terms):
        inputs = [columns[i] for i in term.inputs]
        if own is None:
            operands.append(term.operand(inputs).single())
            own_terms.append(None)
        else:
            operand, own_term = term.without_row(inputs, own.terms[place], own.left_out)
            operands.append(operand)
            own_terms.append(own_term)
    work = Work.of(operands)
    for place, curve in (work.quadratics | work.curves).items():
        if np.isinf(np.asarray(curve.values)).any():
            raise infinite_value(columns[scorecard.terms[place].inputs[0]].name)
    sharpness = [None if own is None else own.sharpness[place] for place in work.quadratics]
    values = [quadratic.values for quadratic in work.quadratics.values()]
    if own is not None:
        both = zip(values, (own.silent[place] for place in work.quadratics), strict=True)
        values = [cells if off is None else np.where(off, np.nan, cells) for cells, off in both]
    return _core.Evidence(
        [lookup.codes for lookup in work.lookups.values()],
        [lookup.shift for lookup in work.lookups.values()],
        [lookup.table for lookup in work.lookups.values()],
        [own_terms[place] for place in work.lookups],
        list(work.lookups),
        values,
        [quadratic.parameters for quadratic in work.quadratics.values()],
        [own_terms[place] for place in work.quadratics],
        list(work.quadratics),
        scorecard.intercept,
        None if own is None else own.intercept,
        labels,
        weights,
        [None if sharp is None else sharp.ratio for sharp in sharpness],
        list(work.curves.values()),
        [own_terms[place] for place in work.curves],
        list(work.curves),
        [None if sharp is None else sharp.share for sharp in sharpness],
    )


def training_evidence(
    scorecard: Scorecard,
    training: Training | PartedTraining,
    own: Callable[[Training], OwnEvidence] | None = None,
) -> _core.Evidence | PartedEvidence:
    """Pack what the terms of a scorecard say about each training row, where the rows are.

    Parameters
    ----------
    scorecard : Scorecard
        The terms.
    training : Training or PartedTraining
        The rows.
    own : callable, optional
        From rows to the evidence for their own classes, if it differs.

    Returns
    -------
    _core.Evidence or PartedEvidence
    """
    pack = partial(_packed, scorecard, own)
    if isinstance(training, Training):
        return pack(training)
    from lessnaive.loss.parted import PartedEvidence

    return PartedEvidence.of(training, pack, len(scorecard.terms))


def _packed(
    scorecard: Scorecard, own: Callable[[Training], OwnEvidence] | None, training: Training
) -> _core.Evidence:
    about = None if own is None else own(training)
    columns = training.table.columns
    return gather_evidence(scorecard, columns, training.labels, training.weights, about)


class WeightedEvidenceLoss(Loss, Curvature):
    r"""The loss of the scores :math:`b_c + \sum_j w_{cj} e_{jc}(x)` under the softmax.

    Parameters
    ----------
    evidence : _core.Evidence or PartedEvidence
        The rows.
    squared : bool, default=False
        :math:`\frac12 \sum_i \sum_c (p_{ic} - [c = y_i])^2` instead of
        :math:`-\sum_i \log p_{i y_i}`. It is not convex.
    shared : bool, default=False
        One weight per column for all classes, instead of one per class and column.
    """

    def __init__(
        self,
        evidence: _core.Evidence | PartedEvidence,
        *,
        squared: bool = False,
        shared: bool = False,
    ) -> None:
        self.evidence = evidence
        self.squared = squared
        self.shared = shared
        self.is_convex = not squared
        self.is_rough = not (squared or shared)
        self._levels: dict[float, tuple[float, Floats]] = {}
        self.n_rows = evidence.rows
        by_class = (evidence.classes, evidence.columns)
        self.shape = by_class[1:] if shared else by_class

    @property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return self.evidence.total_weight

    def take(self, rows: NDArray[np.int64]) -> WeightedEvidenceLoss:
        """Return the loss of some rows, given by their increasing places among the packed ones."""
        return WeightedEvidenceLoss(
            self.evidence.take(rows), squared=self.squared, shared=self.shared
        )

    def part(self, n_rows: int) -> tuple[Loss, float]:
        """Return the loss of about n_rows of the rows, with their share of each class."""
        step = max(1, self.n_rows // n_rows)
        some = self.take(np.arange(step // 2, self.n_rows, step))
        return some, some.total_weight / self.total_weight

    def by_class(self, weights: Floats) -> Floats:
        """Return the weights as a matrix of shape (n_classes, n_columns)."""
        shape = (self.evidence.classes, self.evidence.columns)
        return np.ascontiguousarray(np.broadcast_to(weights, shape), dtype=np.float64)

    def value(self, weights: Floats) -> float:
        """Return the loss."""
        return self.evidence.loss(self.by_class(weights), self.squared, None)

    def value_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient.

        Where all weights are equal, as at targets and starts, they are looked at once only.
        """
        level = float(weights.flat[0]) if weights.size else 0.0
        if not (weights == level).all():
            return self._look(weights)
        if level not in self._levels:
            self._levels[level] = self._look(weights)
        value, gradient = self._levels[level]
        return value, gradient.copy()

    def _look(self, weights: Floats) -> tuple[float, Floats]:
        matrix = self.by_class(weights)
        gradient = np.empty_like(matrix)
        value = self.evidence.loss(matrix, self.squared, gradient)
        return value, gradient.sum(axis=0) if self.shared else gradient

    def curvature(
        self, weights: Floats, chosen: NDArray[np.int64], n_rows: int, seed: int
    ) -> Floats:
        """Return the Hessian of the log loss, or the Gauss-Newton matrix of the squared loss."""
        out = np.empty((len(chosen), len(chosen)))
        self.evidence.curvature(
            self.by_class(weights), self.squared, self.shared, chosen, n_rows, seed, out
        )
        return out

    @property
    def has_main_curvature(self) -> bool:  # type: ignore[override]
        """Whether the rows are here, and not in parts."""
        return isinstance(self.evidence, _core.Evidence)

    def main_curvature(
        self, weights: Floats, chosen: NDArray[np.int64], n_rows: int, seed: int
    ) -> Floats:
        """Return the curvature without rows between classes of which one is very unlikely."""
        assert isinstance(self.evidence, _core.Evidence)
        out = np.empty((len(chosen), len(chosen)))
        given = (self.by_class(weights), self.squared, self.shared, chosen, n_rows, seed, out)
        self.evidence.curvature(*given, _NEGLIGIBLE)
        return out

    @property
    def has_curvature_map(self) -> bool:  # type: ignore[override]
        """Whether this is the log loss of weights by class."""
        return not (self.squared or self.shared)

    def curvature_map(self, weights: Floats, *, cautious: bool = False) -> CurvatureMap:
        """Return the Hessian as a map, which takes as long as the gradient; no other is known."""
        if isinstance(self.evidence, _core.Evidence):
            return EvidenceCurvature(self.evidence, self.by_class(weights))
        return self.evidence.curvature_map(self.by_class(weights))

    @property
    def many_weights(self) -> float:  # type: ignore[override]
        """From so many on the map is cheaper: of many classes, which hardly meet in a row."""
        many = self.has_curvature_map and self.evidence.classes >= _MANY_CLASSES
        return _MANY_WEIGHTS if many else np.inf

    @property
    def has_path(self) -> bool:
        """Whether the core minimizes this loss along paths of penalties."""
        return self.has_curvature_map and isinstance(self.evidence, _core.Evidence)

    def path(self, target: float, enough: int) -> _core.EvidencePath:
        """Return what minimizes this loss plus one elastic net after the other.

        Parameters
        ----------
        target : float
            Where weights are shrunk to, and where the path begins; its weights are counted from
            there.
        enough : int
            Number of rows that the curvature is estimated from.
        """
        assert isinstance(self.evidence, _core.Evidence)
        return _core.EvidencePath(self.evidence, target, enough)

    def lipschitz(self) -> Lipschitz:
        """Return bounds on the Lipschitz constant of the gradient; they are found once."""
        return self._lipschitz

    @cached_property
    def _lipschitz(self) -> Lipschitz:
        r"""Bounds on the Lipschitz constant of the gradient of the log loss.

        The Hessian is :math:`\sum_i E_i' (\mathrm{diag}(p_i) - p_i p_i') E_i`, where row c of
        :math:`E_i` holds the evidence for class c among zeros. The matrix in the middle is at most
        half the identity, and the classes have no weights in common, which gives
        :math:`\frac12 \max_c \lambda_{\max}(\sum_i e_{ic} e_{ic}')`. Shared weights add the
        matrices of all classes up, and Lemma 1 takes the sum of the norms of all classes.
        """
        useful = len(self.evidence.useful)  # all others add nothing but zeros
        here = isinstance(self.evidence, _core.Evidence)
        if here and self.has_curvature_map and useful > _MOST_IN_GRAMS:
            return self._lipschitz_by_products()
        grams = np.zeros((self.evidence.classes, useful, useful))
        lemma1 = self.evidence.grams(grams)
        if self.shared:
            return Lipschitz(
                float(np.trace(grams, axis1=1, axis2=2).sum()), 0.5 * _largest(grams.sum(axis=0))
            )
        return Lipschitz(lemma1, 0.5 * max(_largest(gram) for gram in grams))

    def _lipschitz_by_products(self) -> Lipschitz:
        """Return the same where the matrices would have no room."""
        evidence, shape = self.evidence, self.shape
        assert isinstance(evidence, _core.Evidence)
        out = np.empty(shape)

        def product(vector: Floats) -> Floats:
            evidence.gram_products(np.ascontiguousarray(vector.reshape(shape)), out)
            return out.ravel()

        size = int(np.prod(shape))
        lemma1 = evidence.largest_norms()
        grams = LinearOperator((size, size), matvec=product, dtype=np.float64)
        found = _largest_by_products(grams)
        return Lipschitz(lemma1, 0.5 * (lemma1 if found is None else found))

    def separates(self, direction: Floats) -> bool:
        """Whether no row ever loses by moving the weights in a direction, and some row gains."""
        smallest, largest = self.evidence.margins(self.by_class(direction))
        lemma1 = self.lipschitz().lemma1
        size = np.linalg.norm(direction) * np.sqrt(lemma1 / max(self.evidence.total_weight, 1.0))
        return largest > _ROUNDING**2 * size and smallest >= -_ROUNDING * largest

    def separating_direction(self) -> Floats | None:
        """Return the direction along which the rows gain most while none loses, of small tables."""
        evidence = self.evidence
        shape = (evidence.rows, evidence.classes, evidence.columns)
        if int(np.prod(shape)) * evidence.classes > _MOST_CELLS:
            return None
        dense = np.empty(shape)
        evidence.unpack(dense)
        gains = _gains(dense, np.array(evidence.labels()), shared=self.shared)
        gains = np.unique(gains, axis=0)
        found = linprog(
            -gains.sum(axis=0),
            A_ub=-gains,
            b_ub=np.zeros(len(gains)),
            bounds=(-1.0, 1.0),
            method="highs",
        )
        return found.x.reshape(self.shape) if found.success else None

    def flat_parts(self, weights: Floats) -> Iterator[Floats]:
        """Yield the parts of weights along which the loss hardly bends there.

        If some rows can be separated and others cannot, the former are soon so sure that all the
        curvature left is that of the latter: what separates is found where they do not move.
        """
        if weights.size > _MOST_WEIGHTS:
            return
        everything = np.arange(weights.size)
        curves, axes = np.linalg.eigh(self.curvature(weights, everything, self.n_rows, 0))
        along = axes.T @ weights.ravel()
        for share in _FLAT:
            flat = curves <= share * curves[-1]
            yield (axes[:, flat] @ along[flat]).reshape(weights.shape)


def _gains(dense: Floats, labels: NDArray[np.int64], *, shared: bool) -> Floats:
    """How fast each row moves away from each other class, by each of the flat weights."""
    n_rows, n_classes, n_columns = dense.shape
    rows = np.arange(n_rows)
    out = []
    for c in range(n_classes):
        others = rows[labels != c]
        own = dense[others, labels[others]]
        if shared:
            out.append(own - dense[others, c])
            continue
        gains = np.zeros((len(others), n_classes, n_columns))
        gains[np.arange(len(others)), labels[others]] = own
        gains[:, c] -= dense[others, c]
        out.append(gains.reshape(len(others), -1))
    return np.concatenate(out)


def _largest(matrix: Floats) -> float:
    """Return the largest eigenvalue of a matrix without negative ones."""
    if len(matrix) <= _MOST_EIGENVALUES:
        return float(np.linalg.eigvalsh(matrix)[-1]) if matrix.size else 0.0
    found = _largest_by_products(matrix)
    return float(np.linalg.eigvalsh(matrix)[-1]) if found is None else found


def _largest_by_products(matrix: Floats | LinearOperator) -> float | None:
    """Return the same by products with vectors; None if these do not lead to it."""
    start = np.ones(matrix.shape[0])
    try:
        found = eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)
    except ArpackNoConvergence:
        return None
    return float(found[0])
