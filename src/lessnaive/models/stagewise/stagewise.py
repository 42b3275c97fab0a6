"""Stagewise naive Bayes: columns enter the model little by little."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.evidence.naive_bayes import GENERATIVE_CONSTRAINTS, LOSS_CONSTRAINTS
from lessnaive.models.base import Predictor, ScorecardClassifier
from lessnaive.models.parameters import EvidenceParameters, LossParameters
from lessnaive.models.stagewise.choice import evidence_of, n_levels_of, path_weights, validated
from lessnaive.models.stagewise.level_scores import at_levels
from lessnaive.models.stagewise.path import StagewisePath, walk
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.averaged import ScorecardAverage
from lessnaive.scorecard.recoding import TableRecoding
from lessnaive.scorecard.terms import term_from_plain
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import best

__all__ = ["StagewiseNB"]

# Each prediction asks all of them.
_MOST_AVERAGED = 10_000


@dataclass(kw_only=True, eq=False, repr=False)
class StagewiseNB(LossParameters, EvidenceParameters, ScorecardClassifier):
    r"""Naive Bayes whose columns enter step by step, as far as they help: forward stagewise.

    .. math::
        \hat c(x) = \arg\max_c \; \log p(c) + \sum_j \log p(x_j \mid c; \Omega_j^{(\alpha_j)}),
        \qquad \Omega_j^{(\alpha)} = \alpha\,\Omega_j^{(1)} + (1 - \alpha)\,\Omega_j^{(0)}

    Here :math:`\Omega_j^{(1)}` are the parameters of naive Bayes, one set per class, and
    :math:`\Omega_j^{(0)}` those of all classes together, with which the column says nothing: the
    probabilities of a discrete column, the mean and the standard deviation of a numeric one. All
    :math:`\alpha_j` start at 0. Each step looks at raising one of them by 1, 2, ..., `nu` levels of
    :math:`1 / \text{n\_levels}` and takes the raise after which the training rows are classified
    best [1]_. A column that repeats another adds little and stays near 0, and columns that overlap
    may enter in part. Of all the models on this path one is chosen.

    Parameters
    ----------
    epsilon : float, default=1/40
        How far a step moves a column, as a share of the way from the pooled to the per-class
        estimate: one over a whole number of levels. With 1 columns are only out or in.
    nu : int, default=20
        Look-ahead: the largest number of levels in a step.
    criterion : {"error", "log_loss"}, default="log_loss"
        What a step should make small, on the training rows: the share of wrong rows, as in the
        paper, or the log-loss, which was better in all that we measured (on a few tables "error" is
        worse than naive Bayes; see the user guide). Steps that are equal in this are
        compared by the other of the two; if that is equal too, the first column and the smallest
        step win.
    ties : {"log_loss", "last"}, default="log_loss"
        "last" is the rule of the paper's Algorithm 1 in place of the comparison above: of equal
        steps the last column and the largest step win, so that the order of the columns matters.
    patience : int or None, default=5
        The path ends after so many steps without a new lowest `criterion`; None: when all columns
        are at the highest level.
    choose : {"aic", "bic", "cv"}, default="aic"
        How the model is chosen from the path: by the lowest AIC or BIC, with the number of columns
        above level 0 for the degrees of freedom, or by cross-validation of the sum of the levels.
    cv : int, splitter or iterable of (train, test), default=5
        Folds for ``choose="cv"``, as in :class:`SelectiveNB`; the loss of the held-out rows is
        `criterion`.
    average : bool, default=False
        Whether predictions are averages over all models of the path, each weighted by
        :math:`\exp(-N\,\text{AIC} / 2)` (of BIC with ``choose="bic"``). ``scorecard_`` is the
        chosen model all the same, since an average of probabilities is not a scorecard.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    min_count : int, default=2
        Values of categorical columns that fewer rows have are one value, as in :class:`BaristaNB`.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities, as in :class:`NaiveBayes`.
    numeric : {"gaussian", "gaussian_shared", "mdlp", "modl", "quantile"}, default="modl"
        Likelihood of numeric columns, as in :class:`NaiveBayes`.
    categorical : {"values", "modl"}, default="values"
        What is counted in categorical columns: each value, or groups of values found by MODL.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Total pseudo-count of a categorical column, shared evenly by its values; "laplace" is one
        per value, 0 is maximum likelihood.
    priors : str or array-like of shape (n_classes,), default="smoothed"
        Class probabilities, as in :class:`NaiveBayes`.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says: nothing, or what its frequency in each class says.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    levels_ : array of shape (n_features,)
        Level of each column in the chosen model, from 0 to ``n_levels_``.
    n_levels_ : int
        Number of levels from the pooled to the per-class estimate: one over epsilon.
    weights_ : array of shape (n_features,)
        The same as shares :math:`\alpha_j`, from 0 to 1.
    path_ : StagewisePath
        All models on the path: ``levels``, ``error``, ``deviance``, ``aic``, ``bic`` (and
        ``validation``), with one entry per model.
    chosen_ : int
        Place of the chosen model on the path.
    path_weights_ : array of shape (n_steps + 1,)
        Weight of each model of the path in predictions: 1 for the chosen one, or those of the
        average.
    n_iter_ : int
        Number of steps.
    n_evaluations_ : int
        Number of steps that were looked at.
    objective_ : float
        What the model was chosen by: its AIC or BIC, or its mean loss on held-out rows.
    scorecard_ : Scorecard
        The chosen model, with terms for the columns above level 0.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if the table had names.

    See Also
    --------
    lessnaive.plot.StagewisePathDisplay : The path as a picture.

    References
    ----------
    .. [1] D. Vidaurre, C. Bielza and P. Larrañaga (2012). Forward stagewise naïve Bayes. Progress
       in Artificial Intelligence 1, 57-69.

    Examples
    --------
    >>> from lessnaive import StagewiseNB
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = StagewiseNB().fit(X, y)
    >>> {name: share for name, share in zip(X.columns, model.weights_.tolist()) if share}
    {'island': 1.0, 'bill_length_mm': 1.0, 'bill_depth_mm': 1.0, 'flipper_length_mm': 1.0}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Interval(Real, 0, 1, closed="right")],
        "nu": [Interval(Integral, 1, 10_000, closed="both")],
        "criterion": [StrOptions({"error", "log_loss"})],
        "ties": [StrOptions({"log_loss", "last"})],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "choose": [StrOptions({"aic", "bic", "cv"})],
        "cv": ["cv_object"],
        "average": ["boolean"],
        **GENERATIVE_CONSTRAINTS,
        **LOSS_CONSTRAINTS,
        "numeric": [StrOptions({"gaussian", "gaussian_shared", "mdlp", "modl", "quantile"})],
    }

    epsilon: float = 1 / 40
    nu: int = 20
    criterion: str = "log_loss"
    ties: str = "log_loss"
    patience: int | None = 5
    choose: str = "aic"
    cv: Any = 5
    average: bool = False

    def _learn(self, training: Training) -> None:
        zero, one, evidence = evidence_of(self, training)
        path, n_evaluations = walk(evidence, training.labels, training.weights, self)
        if self.choose == "cv":
            path = replace(path, validation=validated(self, training, path))
        chosen = best(-path.criterion(self.choose))
        n_levels = n_levels_of(self.epsilon)
        scorecard = at_levels(zero, one, path.levels[chosen], n_levels)
        ends = (zero, one) if self.average else None
        self._adopt(scorecard, path, n_levels, chosen, n_evaluations, ends)

    def _adopt(
        self,
        scorecard: Scorecard,
        path: StagewisePath,
        n_levels: int,
        chosen: int,
        n_evaluations: int,
        ends: tuple[Scorecard, Scorecard] | None,
    ) -> None:
        weights = np.zeros(len(path))
        weights[chosen] = 1.0
        average = None
        if ends is not None:
            weights = path_weights(path, "bic" if self.choose == "bic" else "aic")
            average = _average(ends, path, weights, n_levels)
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard
        self._ends = ends
        self._average = average
        self.class_log_prior_ = scorecard.intercept.copy()
        self.path_ = path
        self.chosen_ = chosen
        self.levels_ = path.levels[chosen]
        self.n_levels_ = n_levels
        self.weights_ = self.levels_ / n_levels
        self.path_weights_ = weights
        self.n_iter_ = len(path) - 1
        self.n_evaluations_ = n_evaluations
        self.objective_ = float(path.criterion(self.choose)[chosen])

    def _leave_codes(self, recoding: TableRecoding) -> None:
        super()._leave_codes(recoding)
        if self._ends is not None:
            zero, one = map(recoding.scorecard, self._ends)
            self._ends = zero, one
            self._average = _average(self._ends, self.path_, self.path_weights_, self.n_levels_)

    def _predictor(self) -> Predictor:
        average: ScorecardAverage | None = getattr(self, "_average", None)
        return self._fitted_scorecard() if average is None else average

    def _state_to_plain(self) -> dict[str, Any]:
        ends = None
        if self._ends is not None:
            ends = [[term.to_plain() for term in end.terms] for end in self._ends]
        return {
            "n_levels": self.n_levels_,
            "path": self.path_.to_plain(),
            "chosen": self.chosen_,
            "n_evaluations": self.n_evaluations_,
            "ends": ends,
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record("n_levels", "path", "chosen", "n_evaluations", "ends")
        n_levels = fields["n_levels"].integer(1, 2**31 - 1)
        path = StagewisePath.from_plain(fields["path"], len(scorecard.schema), n_levels)
        if self.average and len(path) > _MOST_AVERAGED:
            raise fields["path"].error(f"more than {_MOST_AVERAGED} models cannot be averaged")
        if self.choose == "cv" and path.validation is None:
            raise fields["path"].error("a model that was chosen by cross-validation needs it")
        self._adopt(
            scorecard,
            path,
            n_levels,
            fields["chosen"].integer(0, len(path) - 1),
            fields["n_evaluations"].integer(0, 2**63 - 1),
            _ends_from_plain(fields["ends"], scorecard) if self.average else None,
        )


def _average(
    ends: tuple[Scorecard, Scorecard],
    path: StagewisePath,
    weights: NDArray[np.float64],
    n_levels: int,
) -> ScorecardAverage:
    """Return the average over the models of a path."""
    used = np.flatnonzero(weights)
    return ScorecardAverage(partial(_member, ends, path.levels[used], n_levels), weights[used])


def _member(
    ends: tuple[Scorecard, Scorecard], levels: NDArray[np.int64], n_levels: int, k: int
) -> Scorecard:
    """Return one of the models that are averaged."""
    return at_levels(*ends, levels[k], n_levels)


def _ends_from_plain(node: Node, scorecard: Scorecard) -> tuple[Scorecard, Scorecard]:
    """Return the models with all columns at level 0 and at the highest level."""
    items = node.items()
    if len(items) != 2:
        raise node.error("expected the terms of the first and of the last level")
    schema, classes = scorecard.schema, scorecard.classes
    zero, one = (
        Scorecard(
            scorecard.model,
            schema,
            classes,
            scorecard.intercept,
            [term_from_plain(item, schema, len(classes)) for item in end.items()],
        )
        for end in items
    )
    forms = [[term.form() for term in end.terms] for end in (zero, one)]
    if forms[0] != forms[1] or len(forms[0]) != len(schema):
        raise node.error("expected the same terms at both levels, one for each column")
    return zero, one
