"""LessNaiveClassifier: additive curves and a few pairs, chosen and weighted by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.exceptions import warn_caller
from lessnaive.models.additive.columns import read_inputs
from lessnaive.models.additive.ensemble import fit_ensemble
from lessnaive.models.additive.judge import MemberReport
from lessnaive.models.additive.members import members_for
from lessnaive.models.additive.monotone import read_constraints
from lessnaive.models.additive.pair_stage import PAIR_STEPS, Settings
from lessnaive.models.additive.path import PENALTIES, Folds
from lessnaive.models.base import ScorecardClassifier, fitting, is_distributed
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.table.class_weight import class_factors
from lessnaive.table.training import Training, read_training, warn_of_empty
from lessnaive.validation.cross_validation import progress, split_rows

if TYPE_CHECKING:
    from lessnaive.table.parts import PartedTraining

__all__ = ["LessNaiveClassifier"]

Floats = NDArray[np.float64]

# Folds of tables of up to so many rows, and of larger ones.
_FEW_ROWS, _FOLDS = 1000, (5, 3)
# The former are fitted so much better than asked: to all rows, and in folds.
_FINER, _FINER_IN_FOLDS = 1e-5, 1e-3
# Penalties and weights of members are chosen with so many rows at most.
_MOST_JUDGED = 60_000


class LessNaiveClassifier(ScorecardClassifier):
    r"""Additive curves and a few pairs, chosen and weighted by cross-validation.

    The score of a class is a sum of a curve or table for each column and a table for each of a few
    pairs of columns,

    .. math::
        s_c(x) = b_c + \sum_j f_{jc}(x_j) + \sum_{(j, k)} g_{jkc}(x_j, x_k),

    and a softmax makes probabilities of the scores. No parameter needs setting. Five additive
    models are fitted and added up, with weights v of 0 or more,

    - *smooth*: curves that are straight between ten knots;
    - *bends*: curves that are straight between four knots;
    - *lines*: straight lines;
    - *steps*: twenty bins of about equal weight, plus a straight line;
    - *freed*: naive Bayes with the bins that MODL finds, one weight per column, and then each score
      freed from its place at a price;

    each of which minimizes

    .. math::
        -\sum_i w_i \log p_i + \frac{\lambda}{2} \sum_p m_p (W_p - W^0_p)^2
        + \frac{\lambda}{2} \sum_p f_p (W_{p+1} - W_p)^2 ,

    where :math:`\lambda` is chosen by the log-loss of held-out rows. The weights minimize the
    log-loss of n held-out rows plus :math:`5 (1 + 200/n) \sum_m (v_m - 1/5)^2`. From 60 rows on,
    pairs are looked for in what the columns alone leave unexplained. These models of pairs stand
    beside the five, and the weights of all are found together, pulled to equal ones:

    - *coarse tables* and *tables*: steps of the columns (of more than 1,000, of those that say
      most), and tables of the pairs, with four and with eight bins of numbers; one of the two where
      folds leave rows out;
    - *trees*: boosted trees each branch of which looks at one column or pair;
    - *products*: *bends* with a multiple of the product of each pair of numbers, if they lower the
      log-loss of held-out rows by 1 % of that of *bends* alone and by more than its standard error
      (with fewer than 100 rows, twice that);
    - *curved products*: where there are products, also *bends* with a multiple of each product of
      the two numbers or their squares.

    They are used if the log-loss of held-out rows falls by 0.5 % or more. Where the columns alone
    leave less than 0.5 % of the log-loss of the class frequencies, pairs are not looked for.
    Everything is then written as one scorecard, in which what a pair says about one of its columns
    alone is part of the curve of that column.

    Missing values are a value of their own where there were some in training, and add nothing
    where there were none. Values never seen add nothing.

    Parameters
    ----------
    pairs : int, default=20
        At most so many pairs of columns; 0 for a model that is purely additive.
    triples : int, default=0
        At most so many triples of columns, each with five values at most, where rules of three
        columns may decide. They are looked for and used as pairs are, but have tables only, no
        trees; of more than 30 such columns those that say most alone take part.
    categorical_features : "from_dtype", "all", or names, positions or a mask, default="from_dtype"
        Columns that are categorical; by default those of text, categories, booleans and objects.
    monotonic_cst : dict of names, array-like of shape (n_features,) or None, default=None
        For two classes: 1 for columns whose score must not fall when their value rises, -1 for
        those whose score must not rise, 0 for the others. The score of the second class is meant.
        Such columns are in no pair and in no triple.
    class_weight : dict of classes, "balanced" or None, default=None
        Weights of the classes, by which those of the rows are multiplied; "balanced" gives all
        classes the same total weight. Probabilities are then those of a population in which the
        classes have these weights: do not use it if probabilities are to be read as frequencies.
    cv : int, splitter, iterable or None, default=None
        Number of stratified folds, or something that splits the rows. None: 5 folds for up to 1,000
        rows, else 3. Of more than 60,000 rows a sample of that size is split, unless the folds
        themselves are given.
    random_state : int, RandomState or None, default=0
        The seed of the shuffle of the folds.
    n_jobs : int, default=None
        Number of models side by side, in threads. The result does not depend on it.
    verbose : bool, default=False
        Whether to show a progress bar.
    tol : float, default=1e-8
        A model is fitted when the next step promises to lower its objective by less than this per
        row (per unit of weight). Tables of 1,000 rows or fewer, where a step more costs nothing,
        are fitted to a hundred-thousandth of it.
    max_iter : int, default=100
        Most steps of Newton's method for one model.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    scorecard_ : Scorecard
        The fitted model: a term for each column, then one for each pair and for each triple.
    importances_ : array of shape (n_terms,)
        For each term of the scorecard, the mean absolute contribution to the score, relative to the
        mean of the term over the training rows; the mean is over training rows and classes, with
        scores centred over the classes.
    pairs_ : list of pairs of names
        The columns of each pair, the strongest first.
    triples_ : list of triples of names
        The columns of each triple, the strongest first.
    members_ : list of MemberReport
        What each of the models contributed: name, penalty, weight in the sum, and log-loss on
        held-out rows. With pairs or triples, "tables" and "trees" are among them, with numbers also
        "coarse tables" and perhaps "products" and "curved products".
    cv_log_loss_ : float or None
        Log-loss of held-out rows, for which penalties, rounds of trees, weights, and whether pairs
        are used, are those that the other folds choose; None if there were too few rows to hold any
        out.
    n_iter_ : int
        Most steps that one of the models took.
    converged_ : bool
        Whether all models were fitted to `tol`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (``n_features_in_``,)
        Names of the columns, if they have names.

    See Also
    --------
    NaiveBayes : Counting alone, for batches and speed.

    Examples
    --------
    >>> from lessnaive import LessNaiveClassifier, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = LessNaiveClassifier().fit(X, y)
    >>> [member.name for member in model.members_]
    ['smooth', 'bends', 'lines', 'steps', 'freed']
    >>> model.cv_log_loss_ < 0.05
    True
    >>> X.columns[model.importances_.argmax()]
    'bill_length_mm'
    """

    _learns_from_parts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "pairs": [Interval(Integral, 0, None, closed="left")],
        "triples": [Interval(Integral, 0, None, closed="left")],
        "categorical_features": [StrOptions({"from_dtype", "all"}), "array-like", None],
        "monotonic_cst": [dict, "array-like", None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    pairs_: list[tuple[str, str]]
    triples_: list[tuple[str, str, str]]
    members_: list[MemberReport]
    cv_log_loss_: float | None
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        *,
        pairs: int = 20,
        triples: int = 0,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Mapping[str, int] | ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        cv: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.pairs = pairs
        self.triples = triples
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.tol = tol
        self.max_iter = max_iter

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A pandas, polars or pyarrow table, a 2-D array, or a list of rows; a Dask DataFrame or
            Array too, if its columns fit into memory in a compact form.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; those of weight 0 are left out. Weight 2 is the row twice, in the
            same fold: a row and its weight are never split between folds.

        Returns
        -------
        LessNaiveClassifier
            The estimator itself.
        """
        if is_distributed(X):
            return self._fit_distributed(X, y, sample_weight)
        self._learn(read_training(X, y, sample_weight, self.categorical_features))
        return self

    @fitting
    def _fit_parts(self, training: PartedTraining) -> Self:
        """Fit the model to a table in parts, which come together."""
        self._learn(training.whole(type(self).__name__))
        return self

    def _weight_of_classes(self) -> None:
        """Return None: what classes weigh is looked at later."""

    def _learn(self, training: Training) -> None:
        training = training.cached()
        folds = self._folds(training)
        training, folds = _present(training, folds)
        by_class = _class_weights(self.class_weight, training)
        signs = read_constraints(self.monotonic_cst, training.schema, len(training.classes))
        inputs = read_inputs(training, by_class, signs)
        empty = [column.name for column in inputs.columns if column.is_empty]
        warn_of_empty(empty, len(inputs.columns))
        finer, in_folds = _FINER, _FINER_IN_FOLDS
        total = inputs.n_rows if inputs.weights is None else float(inputs.weights.sum())
        if max(inputs.n_rows, total) > _FEW_ROWS:
            finer = in_folds = 1.0
        settings = Settings(
            self.pairs,
            self.triples,
            finer * self.tol,
            self.max_iter,
            self.n_jobs,
            in_folds * self.tol,
        )
        n_members = len(members_for(inputs)[0])
        n_steps = n_members * (len(PENALTIES) + 1) + PAIR_STEPS
        with progress("fits", n_steps, bool(self.verbose)) as step:
            steps = iter([step] * n_steps)
            found = fit_ensemble(inputs, folds, settings, lambda: next(steps)())
            for rest in steps:  # what was not needed is done as well
                rest()
        assembly = found.assembly
        terms = assembly.terms()
        scorecard = Scorecard(
            type(self).__name__, training.schema, training.classes, assembly.intercept, terms
        )
        scorecard.observe(training.table.columns, training.table.n_rows, inputs.weights)
        self._set_columns_and_classes(training.schema, training.classes)
        self._scorecard = scorecard
        names = training.schema.names
        self.pairs_ = [(names[a], names[b]) for a, b in assembly.pairs]
        self.triples_ = _triples_of(scorecard)
        self.members_ = found.members
        self.cv_log_loss_ = found.log_loss
        self.n_iter_ = max((solution.n_iter for solution in found.solutions), default=0)
        self.converged_ = all(solution.converged for solution in found.solutions)
        if not self.converged_:
            warn_caller(
                f"{type(self).__name__}: the solver reached max_iter={self.max_iter} before a step "
                f"promised less than tol={self.tol:g} per row: increase max_iter, or tol.",
                ConvergenceWarning,
            )

    @property
    def importances_(self) -> Floats:
        """Mean absolute centred contribution of each term, in the order of ``scorecard_.terms``."""
        return self._fitted_scorecard().importance

    def _state_to_plain(self) -> dict[str, Any]:
        return {
            "pairs": [list(pair) for pair in self.pairs_],
            "members": [report._asdict() for report in self.members_],
            "cv_log_loss": self.cv_log_loss_,
            "n_iter": self.n_iter_,
            "converged": self.converged_,
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record("pairs", "members", "cv_log_loss", "n_iter", "converged")
        names = set(scorecard.schema.names)
        self.pairs_ = []
        for item in fields["pairs"].items():
            pair = tuple(name.choice(names) for name in item.items())
            if len(pair) != 2:
                raise item.error(f"expected two names of columns, got {len(pair)}")
            self.pairs_.append(pair)
        self.triples_ = _triples_of(scorecard)
        self.members_ = [MemberReport.from_plain(item) for item in fields["members"].items()]
        node = fields["cv_log_loss"]
        self.cv_log_loss_ = None if node.is_null() else node.number(0.0)
        self.n_iter_ = fields["n_iter"].integer(0, 2**53)
        self.converged_ = fields["converged"].flag()
        super()._restore(scorecard, Node({}, state.path))

    def _folds(self, training: Training) -> Folds:
        """Return the folds; of large tables, those of a sample of the rows."""
        labels, weights, cv = training.labels, training.weights, self.cv
        if not isinstance(cv, Integral) and cv is not None:
            return split_rows(cv, labels, self.random_state, weights=weights)
        there = np.flatnonzero(np.ones(len(labels)) if weights is None else weights > 0)
        n_folds = _FOLDS[len(there) > _FEW_ROWS] if cv is None else int(cv)
        n_folds = min(n_folds, int(np.bincount(labels[there]).max()))
        if n_folds < 2:
            return []
        if len(there) > _MOST_JUDGED:
            rng = np.random.default_rng(0)
            there = np.sort(rng.choice(there, _MOST_JUDGED, replace=False))
        folds = split_rows(n_folds, labels[there], self.random_state)
        return [(there[train], there[test]) for train, test in folds]


def _triples_of(scorecard: Scorecard) -> list[tuple[str, str, str]]:
    """Return the names of the columns of terms of three columns."""
    names = scorecard.schema.names
    return [
        (names[a], names[b], names[c])
        for a, b, c in (term.inputs for term in scorecard.terms if len(term.inputs) == 3)
    ]


def _present(training: Training, folds: Folds) -> tuple[Training, Folds]:
    """Leave rows of weight 0 out."""
    if training.weights is None or (training.weights > 0).all():
        return training, folds
    rows = np.flatnonzero(training.weights > 0)
    place = np.cumsum(training.weights > 0) - 1
    return training.take(rows).cached(), [(place[train], place[test]) for train, test in folds]


def _class_weights(class_weight: Any, training: Training) -> Floats | None:
    """Return a weight for each class, or None if all count the same."""
    if class_weight is None:
        return None
    rows = np.ones(len(training.labels)) if training.weights is None else training.weights
    return class_factors(rows, class_weight, training.classes, training.labels)
