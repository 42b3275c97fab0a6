"""The best penalty of a path, by rows held out: some penalties first, then all beside the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from lessnaive import _core
from lessnaive.models.logistic.problem import (
    FittedLogistic,
    LogisticProblem,
    LogisticSettings,
    walk_path,
)
from lessnaive.models.solving import minimize
from lessnaive.models.weighted.path import descending
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import (
    Fold,
    Rows,
    choose,
    progress,
    side_by_side,
    split_rows,
    summarize,
    take_fold,
)
from lessnaive.validation.metrics import SCORES, Score

__all__ = ["Moved", "SearchedLogistic"]

Floats = NDArray[np.float64]
Step = Callable[[], None]

# The smallest penalty as a share of the largest slope at the target, with more rows than columns
# and with fewer.
_RATIO, _RATIO_OF_WIDE = 1e-4, 1e-2
# Penalties are tried first at such distances at the most, each as a multiple of the next.
_APART = 1.5
# Paths end so many penalties after the best one at the earliest, and at this share of it,
_BEYOND, _FAR = 8, 0.5
# where the mean score would so rarely be so much lower than there by chance,
_CHANCE = 0.1
# or where the penalty is such a share of the best one, and the mean score is lower than there by
# this share of all that it has differed by.
_LONG, _CLEARLY = 0.1, 0.01
# And where so little is left of the loss of the class shares in training.
_NO_LOSS = 1e-3
# Folds that come one after the other go on by so many penalties before the next takes its turn.
_TOGETHER = 3
# Cells of all folds that may be in memory together, and how many a coefficient counts for: its
# place in the design, the matrices of its coordinates, its slopes.
_MANY_CELLS, _CELLS_OF_COEFFICIENT = 20_000_000, 50


class _FoldRows:
    """The problem of the training rows of a fold, and the rows that its models are scored on."""

    def __init__(self, settings: LogisticSettings, fold: Fold[Training], score: Score) -> None:
        self._problem = LogisticProblem(settings, fold.train, allow_empty=True)
        self._share = fold.share
        self._score = score
        held_out = fold.test
        self._rows = self._problem.design.rows(held_out)
        weights = held_out.weights
        self._counted: Any = slice(None) if weights is None else np.flatnonzero(weights)
        self._labels = held_out.labels[self._counted]
        self._weights = None if weights is None else weights[self._counted]

    def walk(self, lams: Floats, start: Floats | None) -> Iterator[Floats]:
        """Yield the weights at penalties that are on the scale of all rows."""
        return walk_path(self._problem, self._share * lams, start)

    def score_of(self, weights: Floats) -> float:
        """Return the score of weights on the rows that are held out."""
        probability = np.empty((self._rows.rows, self._rows.classes))
        self._rows.probabilities(self._problem.loss.coefficients(weights), probability)
        return self._score(probability[self._counted], self._labels, self._weights)

    def fits_all(self, weights: Floats) -> bool:
        """Whether hardly any loss is left in training."""
        return self._problem.loss.value(weights) < _NO_LOSS * self._problem.null_loss()


class _FoldPath:
    """What has been tried in a fold.

    Parameters
    ----------
    begin : callable
        Returns the rows.
    lams : array of shape (n_lams,)
        The penalties, on the scale of all rows, from large to small.
    first : sequence of int
        Places of the penalties to try first, in ascending order.
    """

    def __init__(self, begin: Callable[[], _FoldRows], lams: Floats, first: Sequence[int]) -> None:
        self._begin, self._lams, self._first = begin, lams, first
        self._rows: _FoldRows | None = None
        self._walk: Iterator[Floats] | None = None
        self._done = 0
        # The weights with the best score, of which many may be 0: where to go on without the rows.
        self._best: csr_array | None = None
        self.scores: dict[int, float] = {}
        # Of the first penalties, whether hardly any loss is left.
        self.fits_all: list[bool] = []

    def go_on(self, to: int, step: Step) -> None:
        """Walk until so many of the first penalties are done."""
        if self._done == to:
            return
        rows = self._taken()
        if self._walk is None:
            self._walk = self._walk_along(self._first[self._done :])
        for place in self._first[self._done : to]:
            weights = next(self._walk)
            self._note(place, weights)
            # The loss only falls along the path.
            self.fits_all.append(self.fits_all[-1:] == [True] or rows.fits_all(weights))
            self._done += 1
            step()

    def look_at(self, places: Sequence[int], step: Step) -> None:
        """Try penalties at these places, in ascending order."""
        self._walk = self._walk_along(places)
        for place, weights in zip(places, self._walk, strict=True):
            self._note(place, weights)
            step()

    def _walk_along(self, places: Sequence[int]) -> Iterator[Floats]:
        start = None if self._best is None else self._best.toarray().astype(np.float64)
        return self._taken().walk(self._lams[list(places)], start)

    def _note(self, place: int, weights: Floats) -> None:
        score, best = self._taken().score_of(weights), max(self.scores.values(), default=-np.inf)
        if self._best is None or score > best:
            self._best = csr_array(weights.astype(np.float32))  # near enough for a start
        self.scores[place] = score

    def let_go(self) -> None:
        """Forget the rows, which are taken again when there is more to try."""
        self._rows = self._walk = None
        _core.trim()  # or what is left of one fold is in the way of the next

    def _taken(self) -> _FoldRows:
        if self._rows is None:
            self._rows = self._begin()
        return self._rows


class Moved(NamedTuple):
    """Rows of numbers of which most are those of a target: only the others are kept."""

    target: Floats
    places: list[NDArray[np.integer]]
    values: list[Floats]

    @classmethod
    def of(cls, target: Floats, rows: Iterable[Floats]) -> Moved:
        """Return what is to be kept of rows."""
        out = cls(target, [], [])
        for row in rows:
            places = np.flatnonzero(row != target)
            # Half the room: the core takes no more coefficients than these numbers reach.
            out.places.append(places.astype(np.int32))
            out.values.append(row.ravel()[places])
        return out

    def rows(self) -> Floats:
        """Return the rows."""
        out = np.empty((len(self.places), *self.target.shape))
        out[:] = self.target
        for row, places, values in zip(out, self.places, self.values, strict=True):
            row.ravel()[places] = values
        return out


class PenaltySearch:
    """The scores of folds at the penalties of a path.

    Of the penalties some are tried first, from the strongest on, each at most 1.5 times as large as
    the next, until the mean score says that there is no use in going on. Then all those beside the
    best are tried, and beside the one that the rule chooses, until none is left there.

    All folds go on together, from one penalty to the next. The rows of all folds of a large table
    would need much memory: there the first fold goes on until its own score says that it is enough,
    and the others follow as far, one after the other. Where that was not far enough, each takes its
    rows again. What is tried is the same in both ways.

    Parameters
    ----------
    settings : LogisticSettings
        The problem.
    score : Score
        How models are scored.
    training : Training
        All rows.
    splits : list of (array, array)
        The rows of the folds.
    lams : array of shape (n_lams,)
        The penalties, from large to small.
    rule : {"best", "one_se"}
        How one is chosen.
    try_all : bool
        Whether all penalties are tried, to the end.
    one_by_one : bool
        Whether one fold comes after the other.
    n_jobs : int or None
        Number of folds side by side.
    step : callable
        Called after each fit.
    """

    def __init__(
        self,
        settings: LogisticSettings,
        score: Score,
        training: Training,
        splits: list[tuple[Rows, Rows]],
        lams: Floats,
        *,
        rule: str,
        try_all: bool,
        one_by_one: bool,
        n_jobs: int | None,
        step: Step,
    ) -> None:
        self._lams, self._rule = lams, rule
        self._one_by_one, self._n_jobs, self._step = one_by_one, n_jobs, step
        stride = 1 if try_all else _stride(lams)
        last = len(lams) - 1
        self._first = [*range(0, last, stride), last]
        self._try_all = try_all

        def begin(split: _Split) -> _FoldRows:
            return _FoldRows(settings, take_fold(training, *split.rows()), score)

        # Nearly all rows are in all folds.
        narrow = [_Split(*split, len(training.labels)) for split in splits]
        self._folds = [_FoldPath(partial(begin, split), lams, self._first) for split in narrow]

    def run(self) -> tuple[list[int], Floats]:
        """Return the places of the penalties that were tried, and their scores in each fold."""
        tried = self._first[: self._walk_down()]
        while places := self._untried_beside_the_best(tried):
            self._side_by_side(partial(_FoldPath.look_at, places=places, step=self._step))
            tried = sorted([*tried, *places])
        # What no fold needs, and no path of all rows, is done as well.
        rest = len(self._lams) * (len(self._folds) + 1) - len(tried)
        for _ in range(rest - sum(len(path.scores) for path in self._folds)):
            self._step()
        return tried, self._scores(self._folds, tried)

    def _walk_down(self) -> int:
        """Try the first penalties until there is no use in going on; returns how many they are."""
        goal = self._own_end(self._folds[0]) if self._one_by_one else self._after(0)
        while True:
            self._side_by_side(partial(_FoldPath.go_on, to=goal, step=self._step))
            end = self._end(self._folds, goal)
            if end is not None:
                return end
            goal = self._after(goal)

    def _after(self, done: int) -> int:
        """Return after how many penalties it is looked again whether that is enough."""
        some = _TOGETHER if self._one_by_one else 1
        return len(self._first) if self._try_all else min(done + some, len(self._first))

    def _side_by_side(self, work: Callable[[_FoldPath], None]) -> None:
        def one_fold(path: _FoldPath) -> None:
            work(path)
            if self._one_by_one:
                path.let_go()

        side_by_side(one_fold, [(path,) for path in self._folds], self._n_jobs)

    def _own_end(self, path: _FoldPath) -> int:
        """Walk a fold as far as its own score says; returns how far that is."""
        goal = self._after(0)
        path.go_on(goal, self._step)
        while self._end([path], goal) is None:
            goal = self._after(goal)
            path.go_on(goal, self._step)
        path.let_go()
        return goal

    def _end(self, paths: list[_FoldPath], walked: int) -> int | None:
        """Return the number of penalties after which there is no use in going on, if known."""
        if not self._try_all:
            for done in range(1, walked + 1):
                if self._is_past_its_best(paths, done):
                    return done
        return walked if walked == len(self._first) else None

    def _is_past_its_best(self, paths: list[_FoldPath], done: int) -> bool:
        """Whether the mean score had fallen for long after so many, or hardly any loss is left."""
        places = self._first[:done]
        of_folds = self._scores(paths, places)
        scores = summarize(of_folds).mean
        top = int(np.argmax(scores))
        best, last = places[top], places[-1]
        if last - best < _BEYOND or self._lams[last] > _FAR * self._lams[best]:
            return False
        if all(path.fits_all[done - 1] for path in paths):
            return True
        falls = of_folds[:, top] - of_folds[:, -1]
        fall, known = summarize(falls), np.isfinite(falls).sum()
        if known > 1 and fall.mean > stdtrit(known - 1, 1 - _CHANCE) * fall.error:
            return True
        clearly = scores[top] - scores[-1] > _CLEARLY * (scores[top] - scores.min())
        return bool(clearly and self._lams[last] <= _LONG * self._lams[best])

    def _untried_beside_the_best(self, tried: list[int]) -> list[int]:
        """Return the places between the best, or the chosen one, and their neighbours."""
        summary = summarize(self._scores(self._folds, tried))
        order = -np.arange(len(tried))
        out: set[int] = set()
        for one_se in {False, self._rule == "one_se"}:
            top = choose(summary, order, one_se=one_se)
            around = tried[max(top - 1, 0) : top + 2]
            out.update(range(around[0], around[-1]))
        return sorted(out.difference(tried))

    @staticmethod
    def _scores(paths: list[_FoldPath], places: list[int]) -> Floats:
        return np.array([[path.scores[place] for place in places] for path in paths])


def _needs_much_room(training: Training, splits: Any, n_coefficients: int) -> bool:
    """Whether the rows of all folds are too many to be in memory together."""
    of_fold = len(training.labels) * len(training.table.columns)
    return len(splits) * (of_fold + _CELLS_OF_COEFFICIENT * n_coefficients) > _MANY_CELLS


class _Split:
    """The rows of a fold in little room: where all others are learned from, those held out."""

    def __init__(self, train: Rows, test: Rows, n_rows: int) -> None:
        kind = np.int32 if n_rows <= np.iinfo(np.int32).max else np.intp
        self._n_rows = n_rows
        self._test: Any = test.astype(kind)
        self._train: Any = None
        if not np.array_equal(train, self._others()):
            self._train = train.astype(kind)

    def rows(self) -> tuple[Any, Any]:
        """Return the rows to learn from and those held out."""
        return self._others() if self._train is None else self._train, self._test

    def _others(self) -> Any:
        there = np.ones(self._n_rows, dtype=bool)
        there[self._test] = False
        return np.flatnonzero(there).astype(self._test.dtype)


def _stride(lams: Floats) -> int:
    """Return how many steps of the path are at most the distance between the first penalties."""
    steps = len(lams) - 1
    if steps == 0 or lams[-1] == lams[0]:
        return 1
    each = np.log(lams[0] / lams[-1]) / steps
    return max(1, int(np.log(_APART) / each))


class SearchedLogistic(FittedLogistic):
    """A linear model whose penalty is chosen by rows held out."""

    # With the parameters of NBLogisticCV.
    lams: Any
    n_lams: int
    lam_ratio: float | None
    scoring: str
    rule: str
    cv: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool

    _path_type: ClassVar[type]
    lam_: float
    path_: Any

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
        if one_by_one:  # and even this is made again when it is needed
            del problem, start
            _core.trim()
        with progress("penalties", (len(splits) + 1) * len(lams), bool(self.verbose)) as step:
            search = PenaltySearch(
                settings,
                SCORES[self.scoring],
                training,
                splits,
                lams,
                rule=self.rule,
                try_all=self.lams is not None,
                one_by_one=one_by_one,
                n_jobs=self.n_jobs,
                step=step,
            )
            del splits  # the search has them in less room
            tried, fold_scores = search.run()
            del search
            lams = lams[tried]
            if one_by_one:
                problem = LogisticProblem(settings, training)
                start = problem.start()
            path = self._path_of(problem, lams, fold_scores, step)
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

    def _path_of(
        self, problem: LogisticProblem, lams: Floats, fold_scores: Floats, step: Step
    ) -> Any:
        """Return the minima of all rows at penalties, with their scores."""
        intercept = np.empty((len(lams), problem.n_outputs))
        n_moved = np.empty(len(lams), dtype=np.int64)

        def walk() -> Iterator[Floats]:
            for place, weights in enumerate(walk_path(problem, lams)):
                coefficients = problem.coefficients(weights, float(lams[place]))
                intercept[place] = coefficients[:, 0]
                n_moved[place] = np.count_nonzero(weights)
                yield coefficients[:, 1:]
                step()

        coef = Moved.of(problem.target[:, 1:].copy(), walk())
        return self._path_type(lams, intercept, n_moved, fold_scores, coef)
