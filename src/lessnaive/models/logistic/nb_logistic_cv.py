"""Naive Bayes and logistic regression along a path of penalties, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive import _core
from lessnaive._sklearn import Interval, StrOptions
from lessnaive.models.logistic.nb_logistic import LOGISTIC_CONSTRAINTS
from lessnaive.models.logistic.problem import (
    FittedLogistic,
    LogisticProblem,
    LogisticSettings,
    walk_path,
)
from lessnaive.models.parameters import LogisticParameters
from lessnaive.models.solving import minimize
from lessnaive.models.weighted.path import descending
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import (
    Fold,
    FoldScores,
    Rows,
    choose,
    progress,
    side_by_side,
    split_rows,
    summarize,
    take_fold,
)
from lessnaive.validation.metrics import SCORES, Score

__all__ = ["LogisticPath", "NBLogisticCV"]

Floats = NDArray[np.float64]

_FIELDS = ("lams", "coef", "intercept", "n_moved", "fold_scores")


class _Moved(NamedTuple):
    """Rows of numbers of which most are those of a target: only the others are kept."""

    target: Floats
    places: list[NDArray[np.integer]]
    values: list[Floats]

    @classmethod
    def of(cls, target: Floats, rows: Iterable[Floats]) -> _Moved:
        out = cls(target, [], [])
        for row in rows:
            places = np.flatnonzero(row != target)
            # Half the room: the core takes no more coefficients than these numbers reach.
            out.places.append(places.astype(np.int32))
            out.values.append(row.ravel()[places])
        return out

    def rows(self) -> Floats:
        out = np.empty((len(self.places), *self.target.shape))
        out[:] = self.target
        for row, places, values in zip(out, self.places, self.values, strict=True):
            row.ravel()[places] = values
        return out


@dataclass(frozen=True)
class LogisticPath(FoldScores):
    """Linear models along a path of penalties, the strongest first.

    Attributes
    ----------
    lams : array of shape (n_lams,)
        The penalties, on the scale of the sum over all rows.
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
    _coef: _Moved

    @property
    def coef(self) -> Floats:
        """The coefficients at each penalty."""
        return self._coef.rows()

    @classmethod
    def of(
        cls, problem: LogisticProblem, lams: Floats, fold_scores: Floats, step: Callable[[], None]
    ) -> Self:
        """Return the path of a problem."""
        intercept = np.empty((len(lams), problem.n_outputs))
        n_moved = np.empty(len(lams), dtype=np.int64)

        def walk() -> Iterator[Floats]:
            for place, weights in enumerate(walk_path(problem, lams)):
                coefficients = problem.coefficients(weights, float(lams[place]))
                intercept[place] = coefficients[:, 0]
                n_moved[place] = np.count_nonzero(weights)
                yield coefficients[:, 1:]
                step()

        coef = _Moved.of(problem.target[:, 1:].copy(), walk())
        return cls(lams, intercept, n_moved, fold_scores, coef)

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
        return cls(_coef=_Moved.of(target, arrays.pop("coef")), **arrays)


class _Walk:
    """A path that is being walked: the training rows, and the rows that its models are scored on.

    Parameters
    ----------
    settings : LogisticSettings
        The problem.
    fold : Fold
        The rows.
    lams : array of shape (n_lams,)
        The penalties that are left, on the scale of all rows.
    score : Score
        How models are scored.
    start : array or None
        The weights to go on from.
    """

    def __init__(
        self,
        settings: LogisticSettings,
        fold: Fold[Training],
        lams: Floats,
        score: Score,
        start: Floats | None,
    ) -> None:
        self._problem = LogisticProblem(settings, fold.train, allow_empty=True)
        self._path = walk_path(self._problem, fold.share * lams, start)
        self._score = score
        held_out = fold.test
        self._rows = self._problem.design.rows(held_out)
        weights = held_out.weights
        self._counted: Any = slice(None) if weights is None else np.flatnonzero(weights)
        self._labels = held_out.labels[self._counted]
        self._weights = None if weights is None else weights[self._counted]

    def next(self) -> Floats:
        """Return the weights at the next penalty."""
        return next(self._path)

    def score_of(self, weights: Floats) -> float:
        """Return the score of weights on the rows that are held out."""
        probability = np.empty((self._rows.rows, self._rows.classes))
        self._rows.probabilities(self._problem.loss.coefficients(weights), probability)
        return self._score(probability[self._counted], self._labels, self._weights)

    def fits_all(self, weights: Floats) -> bool:
        """Whether hardly any loss is left in training."""
        return self._problem.loss.value(weights) < _NO_LOSS * self._problem.null_loss()


class _FoldPath:
    """The path of a fold, as far as it has been walked.

    Parameters
    ----------
    begin : callable
        Returns the :class:`_Walk` of the penalties from a place on, from these weights.
    n_lams : int
        Number of penalties.
    """

    def __init__(self, begin: Callable[[int, Floats | None], _Walk], n_lams: int) -> None:
        self._begin = begin
        self._n_lams = n_lams
        self._walk: _Walk | None = None
        self._last: Floats | None = None
        self.scores: list[float] = []
        # After each so many penalties that are done together.
        self.fits_all: list[bool] = []

    def go_on(self, to: int, step: Callable[[], None], *, keep: bool) -> None:
        """Walk until so many penalties are done.

        After the last one, or if they are not to be kept, the rows are let go; the path can be
        walked on from its last weights then.
        """
        if self._walk is None and len(self.scores) < to:
            self._walk = self._begin(len(self.scores), self._last)
        for place in range(len(self.scores), to):
            assert self._walk is not None
            weights = self._walk.next()
            self.scores.append(self._walk.score_of(weights))
            if (place + 1) % _TOGETHER == 0:
                self.fits_all.append(self._walk.fits_all(weights))
            self._last = weights
            step()
        if to >= self._n_lams or not keep:
            self._walk = None
        if not keep:
            _core.trim()  # or what is left of one fold is in the way of the next


def score_paths(
    settings: LogisticSettings,
    score: Score,
    training: Training,
    splits: Any,
    lams: Floats,
    *,
    one_by_one: bool,
    to_the_end: bool,
    n_jobs: int | None,
    step: Callable[[], None],
) -> Floats:
    """Return the scores of all folds, of shape (n_folds, n_penalties that were of use).

    All folds go on together, some penalties at a time, until the mean score says that there is no
    use in going on. The rows of all folds of a large table would need much memory: there the first
    fold goes on until its own score says so, and the others follow as far, one after the other.
    Where that was not far enough, each takes its rows again. The scores are the same in both ways.
    """

    def begin(train: Any, test: Any, done: int, start: Floats | None) -> _Walk:
        return _Walk(settings, take_fold(training, train, test), lams[done:], score, start)

    paths = [_FoldPath(partial(begin, train, test), len(lams)) for train, test in splits]
    if to_the_end:
        goal = len(lams)
    elif one_by_one:
        goal = _own_end(paths[0], lams, step)
    else:
        goal = min(_TOGETHER, len(lams))
    end = 0
    while end == 0:
        side_by_side(
            lambda path, to=goal: path.go_on(to, step, keep=not one_by_one),
            [(path,) for path in paths],
            n_jobs,
        )
        end = len(lams) if to_the_end else _end(paths, lams, goal)
        walked, goal = goal, min(goal + _TOGETHER, len(lams))
    for _ in range((len(lams) - walked) * len(paths)):
        step()
    return np.array([path.scores[:end] for path in paths])


def _needs_much_room(training: Training, splits: Any, n_coefficients: int) -> bool:
    """Whether the rows of all folds are too many to be in memory together."""
    of_fold = len(training.labels) * len(training.table.columns)
    return len(splits) * (of_fold + _CELLS_OF_COEFFICIENT * n_coefficients) > _MANY_CELLS


def _narrow(splits: list[tuple[Rows, Rows]], n_rows: int) -> list[tuple[Any, Any]]:
    """Return places of rows in half the room, where they fit: all folds have nearly all rows."""
    kind = np.int32 if n_rows <= np.iinfo(np.int32).max else np.intp
    return [(train.astype(kind), test.astype(kind)) for train, test in splits]


def _own_end(path: _FoldPath, lams: Floats, step: Callable[[], None]) -> int:
    """Walk a fold as far as its own score says, and let its rows go; returns how far that is."""
    goal = 0
    while goal < len(lams) and not _end([path], lams, goal):
        goal = min(goal + _TOGETHER, len(lams))
        path.go_on(goal, step, keep=True)
    path.go_on(goal, step, keep=False)
    return goal


def _end(paths: list[_FoldPath], lams: Floats, walked: int) -> int:
    """Return the number of penalties after which there is no use in going on; 0 if not known."""
    for done in range(_TOGETHER, walked + 1, _TOGETHER):
        if _is_past_its_best(paths, lams, done):
            return done
    return len(lams) if walked == len(lams) else 0


def _is_past_its_best(paths: list[_FoldPath], lams: Floats, done: int) -> bool:
    """Whether the mean score had fallen for long after so many penalties, or could only fall."""
    scores = summarize(np.array([path.scores[:done] for path in paths])).mean
    last, best = done - 1, int(np.argmax(scores))
    if last - best < _TOGETHER:
        return False
    if all(path.fits_all[done // _TOGETHER - 1] for path in paths):
        return True
    fallen = scores[best] - scores[-1] > _CLEARLY * (scores[best] - scores.min())
    return bool(fallen and lams[last] <= _LONG * lams[best])


# The smallest penalty as a share of the largest slope at the target, with more rows than columns
# and with fewer.
_RATIO, _RATIO_OF_WIDE = 1e-4, 1e-2
# Penalties that all folds do before it is looked whether that is enough.
_TOGETHER = 10
# Paths end where the penalty is this share of the best one, and the mean score is lower than there
# by this share of all that it has differed by.
_LONG, _CLEARLY = 0.1, 0.01
# And where so little is left of the loss of the class shares in training, and the score was best
# some penalties ago.
_NO_LOSS = 1e-3
# Cells of all folds that may be in memory together, and how many a coefficient counts for: its
# place in the design, the matrices of its coordinates, its slopes.
_MANY_CELLS, _CELLS_OF_COEFFICIENT = 20_000_000, 50


@dataclass(kw_only=True, eq=False, repr=False)
class NBLogisticCV(LogisticParameters, FittedLogistic):
    r"""Logistic regression shrunk toward naive Bayes, with the strength chosen by cross-validation.

    The path of penalties goes from ``lambda_max_``, at which the model is naive Bayes (or, toward
    zero, the class shares; with squares nearly so), down to `lam_ratio` times that, or to where
    there is no use in going on: the mean held-out score has been falling down to a tenth of the
    penalty where it was best, or hardly any loss is left in training. In each fold
    naive Bayes is learned from the training rows alone, and the penalty is that of the path times
    the share of the weight of the rows that is left, since the loss is a sum over rows.

    The models of the paths are found until their objective is within about 1e-10 of its minimum,
    relative to it, as the quadratic model of the solver estimates that; the chosen one is fitted
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
        The penalties to try, on the scale of the sum over rows; None: a path as described above.
    n_lams : int, default=100
        Number of penalties of the path, whose logarithms are evenly spaced.
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
        The penalties, coefficients and intercepts learned from all rows, and the scores of the
        folds.
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

    def _learn(self, training: Training) -> None:
        """Choose the penalty and fit the model."""
        training = training.cached()
        settings = LogisticSettings.of(self)
        problem = LogisticProblem(settings, training)
        start = problem.start()
        lambda_max = problem.lambda_max(start)
        lams = self._penalties(problem, lambda_max)
        splits = split_rows(self.cv, training.labels, self.random_state, weights=training.weights)
        one_by_one = _needs_much_room(training, splits, start.size)
        if one_by_one:
            problem.let_rows_go()
            splits = _narrow(splits, len(training.labels))
        with progress("penalties", (len(splits) + 1) * len(lams), bool(self.verbose)) as step:
            fold_scores = score_paths(
                settings,
                SCORES[self.scoring],
                training,
                splits,
                lams,
                one_by_one=one_by_one,
                to_the_end=self.lams is not None,
                n_jobs=self.n_jobs,
                step=step,
            )
            lams = lams[: fold_scores.shape[1]]
            if one_by_one:
                problem.take_rows(training)
            path = LogisticPath.of(problem, lams, fold_scores, step)
        place = choose(summarize(fold_scores), -np.arange(len(lams)), one_se=self.rule == "one_se")
        lam = float(lams[place])
        # From the start, so that the model is the very one of NBLogistic with this penalty.
        solution = minimize(settings.solving, problem.loss, problem.penalty(lam), start)
        self._adopt(problem, lam, solution, lambda_max)
        self.lam_, self.path_ = lam, path

    def _penalties(self, problem: LogisticProblem, lambda_max: float) -> Floats:
        """Return the penalties, from large to small."""
        if self.lams is not None:
            return descending("lams", self.lams)
        ratio = self.lam_ratio
        if ratio is None:
            ratio = _RATIO if problem.loss.n_rows > len(problem.design) else _RATIO_OF_WIDE
            ratio *= problem.absolute_share
        # Where nothing wants to move, any penalty does.
        largest = lambda_max if lambda_max > 0 else 1.0
        return largest * np.geomspace(1.0, ratio, self.n_lams)

    def _state_to_plain(self) -> dict[str, Any]:
        cv = {"lam": self.lam_, "path": self.path_.to_plain()}
        return {**super()._state_to_plain(), "cv": cv}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        node, rest = state.pop("cv")
        fields = node.record("lam", "path")
        lam = fields["lam"].number(0.0)
        super()._restore(scorecard, rest)
        self.lam_, self.path_ = lam, LogisticPath.from_plain(fields["path"], self.target_coef_)
