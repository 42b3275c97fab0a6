"""Naive Bayes and logistic regression along a path of penalties, chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.models.logistic.nb_logistic import LOGISTIC_CONSTRAINTS
from lessnaive.models.logistic.penalty_search import Moved, SearchedLogistic
from lessnaive.models.parameters import LogisticParameters
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard import Scorecard
from lessnaive.validation.cross_validation import (
    FoldScores,
)
from lessnaive.validation.metrics import SCORES

__all__ = ["LogisticPath", "NBLogisticCV"]

Floats = NDArray[np.float64]

_FIELDS = ("lams", "coef", "intercept", "n_moved", "fold_scores")


@dataclass(frozen=True)
class LogisticPath(FoldScores):
    """Linear models along a path of penalties, the strongest first.

    Attributes
    ----------
    lams : array of shape (n_lams,)
        The penalties that were tried, on the scale of the sum over all rows.
    coef : array of shape (n_lams, n_outputs, n_design)
        The coefficients, learned from all rows. Only those that differ from their target are kept
        in memory, and the array is made when it is asked for.
    intercept : array of shape (n_lams, n_outputs)
        The intercepts.
    n_moved : array of shape (n_lams,)
        Number of coefficients, intercepts included, that differ from their target.
    fold_scores : array of shape (n_folds, n_lams)
        Scores on the held-out rows of each fold; larger is better, losses are negative.
    """

    lams: Floats
    intercept: Floats
    n_moved: NDArray[np.int64]
    fold_scores: Floats
    _coef: Moved

    @property
    def coef(self) -> Floats:
        """The coefficients at each penalty."""
        return self._coef.rows()

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        return {name: array_to_plain(getattr(self, name)) for name in _FIELDS}

    @classmethod
    def from_plain(cls, node: Node, target: Floats) -> Self:
        """Return the path of coefficients around a target; ModelFormatError if there is none."""
        fields = node.record(*_FIELDS)
        arrays = {name: field.array() for name, field in fields.items()}
        length = arrays["lams"].shape[:1]
        shapes = {
            "lams": length,
            "coef": (*length, *target.shape),
            "intercept": (*length, *target.shape[:1]),
            "n_moved": length,
            "fold_scores": (*arrays["fold_scores"].shape[:1], *length),
        }
        for name, expected in shapes.items():
            kind = "i" if name == "n_moved" else "f"
            if arrays[name].shape != expected or arrays[name].dtype.kind != kind:
                raise fields[name].error(f"expected numbers of shape {expected}")
        return cls(_coef=Moved.of(target, arrays.pop("coef")), **arrays)


@dataclass(kw_only=True, eq=False, repr=False)
class NBLogisticCV(LogisticParameters, SearchedLogistic):
    r"""Logistic regression shrunk toward naive Bayes, with the strength chosen by cross-validation.

    The path of penalties goes from ``lambda_max_``, at which the model is naive Bayes (or, toward
    zero, the class shares; with squares nearly so), down to `lam_ratio` times that, or to where
    there is no use in going on: eight penalties and a factor of two or more after the best one, the
    mean held-out score is lower than there by more than chance would explain (by a t-test of the
    folds at 10 %), or has been falling down to a tenth of that penalty, or hardly any loss is left
    in training. Where its penalties are closer than a factor of 1.5, some at about that distance
    are tried first, and then all between the best one (and the one that the `rule` chooses) and its
    neighbours. In each fold naive Bayes is learned from the training rows alone, and the penalty is
    that of the path times the share of the weight of the rows that is left, since the loss is a sum
    over rows.

    The models of the paths are found until their objective is within about 1e-10 of its minimum,
    relative to it (or to a ten-thousandth of the loss without evidence, where that is more), as
    the quadratic model of the solver estimates that; the chosen one is fitted
    again as :class:`NBLogistic` does it.

    Parameters
    ----------
    target : {"naive_bayes", "zero"} or array, default="naive_bayes"
        Where coefficients are shrunk to, as in :class:`NBLogistic`. An array is for all folds,
        which needs every fold to have all values of the categorical columns.
    penalty : {"l1", "l2", "elastic_net"}, default="l1"
        The shape of the penalty.
    l1_ratio : float, default=0.5
        The share of absolute values in the elastic net.
    lams : array-like, default=None
        The penalties to try, all of them, on the scale of the sum over rows; None: a path as
        described above.
    n_lams : int, default=100
        Number of penalties of the path, whose logarithms are evenly spaced; not all of many are
        tried.
    lam_ratio : float, default=None
        The smallest penalty of the path as a share of the largest. None: the smallest is 1e-4 times
        the largest slope of the loss at the target (which is ``lambda_max_`` for "l1"), or 1e-2
        times with no more rows than design columns.
    scoring : {"log_loss", "deviance", "brier", "zero_one", "accuracy", "auc"}, default="log_loss"
        What is compared on the held-out rows; losses count with a minus. The deviance is twice the
        log-loss, and "zero_one" (the share of wrong rows) one minus the accuracy: they choose the
        same.
    rule : {"best", "one_se"}, default="best"
        Whether to take the penalty with the best mean score, or the strongest one whose score is
        within one standard error of it.
    cv : int, splitter or iterable, default=10
        Number of stratified folds, or something that splits the rows.
    random_state : int, RandomState or None, default=0
        The seed of the shuffle of the folds.
    n_jobs : int, default=None
        Number of folds side by side, in threads.
    verbose : bool, default=False
        Whether to show a progress bar.
    standardize, penalize_intercept, solver, tol, max_iter
        As in :class:`NBLogistic`; `tol` is that of the final fit.
    numeric, n_bins, missing
        How columns enter, as in :class:`NBLogistic`. Bins are found in the training rows of each
        fold.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, as in :class:`NBLogistic`.
    min_count : int, default=2
        Values of categorical columns that fewer rows have are one value, as in :class:`BaristaNB`.
    categorical_features, smoothing, priors, variance_floor
        How naive Bayes is learned, as in :class:`NBLogistic`.

    Attributes
    ----------
    lam_ : float
        The chosen penalty.
    path_ : LogisticPath
        The penalties that were tried, coefficients and intercepts learned from all rows, and the
        scores of the folds.
    classes_ : array of shape (n_classes,)
        The classes.
    scorecard_ : Scorecard
        The fitted model. All its other attributes, such as ``coef_``, ``lambda_max_`` and
        ``objective_``, are those of :class:`NBLogistic` with ``lam=lam_``.

    See Also
    --------
    NBLogistic : The same with a given penalty.

    Examples
    --------
    >>> from lessnaive import NBLogisticCV, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = NBLogisticCV(n_lams=10, cv=5).fit(X, y)
    >>> model.path_.fold_scores.shape
    (5, 10)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LOGISTIC_CONSTRAINTS,
        "lams": ["array-like", None],
        "n_lams": [Interval(Integral, 1, None, closed="left")],
        "lam_ratio": [Interval(Real, 0, 1, closed="neither"), None],
        "scoring": [StrOptions(set(SCORES))],
        "rule": [StrOptions({"best", "one_se"})],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _path_type: ClassVar[type[LogisticPath]] = LogisticPath

    lam_: float = field(init=False)
    path_: LogisticPath = field(init=False)

    lams: ArrayLike | None = None
    n_lams: int = 100
    lam_ratio: float | None = None
    scoring: str = "log_loss"
    rule: str = "best"
    cv: Any = 10
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False

    def _state_to_plain(self) -> dict[str, Any]:
        cv = {"lam": self.lam_, "path": self.path_.to_plain()}
        return {**super()._state_to_plain(), "cv": cv}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        node, rest = state.pop("cv")
        fields = node.record("lam", "path")
        lam = fields["lam"].number(0.0)
        super()._restore(scorecard, rest)
        self.lam_, self.path_ = lam, LogisticPath.from_plain(fields["path"], self.target_coef_)
