"""Rows that were held out: losses on them, weights of models by them, and what each model gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.path import Folds, HeldOut
from lessnaive.models.additive.scores import log_losses
from lessnaive.models.additive.stacking import stack
from lessnaive.plain import Node

__all__ = ["Judge", "MemberReport"]

Floats = NDArray[np.float64]


class MemberReport(NamedTuple):
    """What one of the models that are added up contributed.

    Attributes
    ----------
    name : str
        "smooth", "bends", "lines", "steps" or "freed"; with pairs or triples also "tables" and
        "trees", with pairs of numbers also "coarse tables" and perhaps "products" and "curved
        products".
    penalty : float or None
        The penalty that was chosen; None for trees.
    weight : float
        Its weight in the sum.
    log_loss : float or None
        Its own log-loss on held-out rows; None if no row could be held out.
    """

    name: str
    penalty: float | None
    weight: float
    log_loss: float | None

    @classmethod
    def from_plain(cls, node: Node) -> MemberReport:
        """Return the report that plain data describes."""
        fields = node.record(*cls._fields)
        penalty, log_loss = fields["penalty"], fields["log_loss"]
        return cls(
            fields["name"].text(),
            None if penalty.is_null() else penalty.number(0.0),
            fields["weight"].number(0.0),
            None if log_loss.is_null() else log_loss.number(0.0),
        )


class Judge:
    """Rows that were held out, and losses on them."""

    def __init__(self, inputs: Inputs, folds: Folds) -> None:
        self.rows = np.unique(np.concatenate([test for _, test in folds]))
        self.labels = inputs.labels[self.rows]
        weights = np.ones(inputs.n_rows) if inputs.weights is None else inputs.weights
        self.weights = weights[self.rows]
        fold_of = np.zeros(inputs.n_rows, dtype=np.intp)
        for place, (_, test) in enumerate(folds):
            fold_of[test] = place
        self.fold_of = fold_of[self.rows]
        self.n_folds = len(folds)

    def held_out(self, scores: HeldOut) -> HeldOut:
        """Return the scores of the held-out rows."""
        if len(self.rows) == len(scores.scores):
            return scores
        return HeldOut(scores.scores[self.rows], scores.honest[self.rows])

    def loss(self, scores: Floats) -> float:
        """Return the mean log-loss of scores of the held-out rows."""
        losses = log_losses(scores, self.labels)
        return float(np.einsum("i,i->", losses, self.weights) / self.weights.sum())

    def stack(self, models: Sequence[HeldOut], toward: list[float]) -> tuple[Floats, HeldOut]:
        """Return weights, and what weights from the other folds make of each held-out row."""
        scores = [model.scores for model in models]
        weights = stack(scores, self.labels, self.weights, toward)
        out = HeldOut(np.empty_like(scores[0]), np.empty_like(scores[0]))
        for place in range(self.n_folds):
            here = self.fold_of == place
            others = [score[~here] for score in scores]
            own = weights
            if not here.all():
                own = stack(others, self.labels[~here], self.weights[~here], toward)
            out.scores[here] = sum(v * score[here] for v, score in zip(own, scores, strict=True))
            out.honest[here] = sum(v * m.honest[here] for v, m in zip(own, models, strict=True))
        return weights, out

    def choose(self, simple: HeldOut, rich: HeldOut, least: float) -> tuple[bool, float]:
        """Return whether a richer model pays, and the honest loss if other folds say so for each.

        It pays if it lowers the loss by the share `least`.
        """
        before, after = self._by_fold(simple.scores), self._by_fold(rich.scores)
        # The one fold there is has no others.
        others = 1.0 - np.eye(self.n_folds) if self.n_folds > 1 else np.ones((1, 1))
        pays = others @ after <= (1 - least) * (others @ before)
        honest = np.where(pays, self._by_fold(rich.honest), self._by_fold(simple.honest))
        loss = float(honest.sum() / self.weights.sum())
        return bool(after.sum() <= (1 - least) * before.sum()), loss

    def _by_fold(self, scores: Floats) -> Floats:
        """Return the sum of the weighted log-losses of the held-out rows of each fold."""
        losses = log_losses(scores, self.labels) * self.weights
        return np.bincount(self.fold_of, losses, self.n_folds).astype(np.float64)
