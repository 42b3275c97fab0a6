"""What all classifiers share: everything that is done with a fitted scorecard."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from lessnaive._sklearn import check_parameters, checked_fit
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.card import MOST_OBSERVED
from lessnaive.table import Schema
from lessnaive.table.training import read_training

if TYPE_CHECKING:
    from lessnaive.evidence.row_sum import RowSum
    from lessnaive.scorecard.recoding import TableRecoding

__all__ = [
    "OneBlasThread",
    "Predictor",
    "ScorecardClassifier",
    "by_one_blas_thread",
    "fitting",
    "is_distributed",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class OneBlasThread:
    """Within it, products and decompositions of matrices are computed by one thread.

    BLAS adds up in another order for each number of threads. What takes long is done by the core,
    whose order is fixed. Several Python threads may be within it at a time: the last one that
    leaves gives BLAS back the threads that it had.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.models.base import OneBlasThread
    >>> with OneBlasThread():
    ...     product = np.ones((2, 3)) @ np.ones(3)
    >>> product
    array([3., 3.])
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _inside: ClassVar[int] = 0
    _libraries: ClassVar[list[Any] | None] = None
    _before: ClassVar[list[int]] = []

    def __enter__(self) -> None:
        """Hold back all threads but one."""
        kind = OneBlasThread
        with kind._lock:
            if kind._libraries is None:
                # scikit-learn needs it too. Looking for the libraries takes milliseconds.
                from threadpoolctl import ThreadpoolController

                kind._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            if kind._inside == 0:
                kind._before = [library.num_threads for library in kind._libraries]
                kind._set([1] * len(kind._before))
            kind._inside += 1

    def __exit__(self, *error: object) -> None:
        """Let go, if nobody else is inside."""
        kind = OneBlasThread
        with kind._lock:
            kind._inside -= 1
            if kind._inside == 0:
                kind._set(kind._before)

    @classmethod
    def _set(cls, numbers: list[int]) -> None:
        for library, number in zip(cls._libraries or [], numbers, strict=True):
            # New versions let only the Python thread that has set a limit set another.
            set_threads = getattr(library, "_real_set_num_threads", library.set_num_threads)
            set_threads(number)


def by_one_blas_thread(function: _Function) -> _Function:
    """Let a function run within :class:`OneBlasThread`."""

    @wraps(function)
    def run(*given: Any, **options: Any) -> Any:
        with OneBlasThread():
            return function(*given, **options)

    return cast(_Function, run)


def fitting(fit: _Function) -> _Function:
    """Make a method that fits check the parameters first, and run by one thread of BLAS."""
    return checked_fit(by_one_blas_thread(fit))


def is_distributed(X: Any) -> bool:
    """Whether a table is a collection of Dask."""
    return type(X).__module__.partition(".")[0] == "dask"


def part_by_part(predict: _Function) -> _Function:
    """Make a method that predicts a table predict those of Dask too, part by part, when asked."""

    @wraps(predict)
    def run(self: Any, X: Any) -> Any:
        if not is_distributed(X):
            return predict(self, X)
        from lessnaive.parts.distributed import predict_distributed

        return predict_distributed(self, predict.__name__, X)

    return cast(_Function, run)


class Predictor(Protocol):
    """What turns rows into scores and probabilities of classes, as a scorecard does."""

    def joint_log_probability(self, X: Any) -> NDArray[np.float64]:
        """Score of each row for each class, up to a constant of the row."""

    def log_probability(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row."""

    def probability(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row."""

    def members(self) -> Iterator[tuple[float, Scorecard]]:
        """Yield the scorecards whose probabilities are averaged, with their weights."""


class ScorecardClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose fitted form is a scorecard.

    A subclass learns from a table in ``_learn`` and sets ``_scorecard``; columns, classes and
    predictions follow from it.
    """

    #: Whether ``_learn`` takes a table in parts too.
    _learns_from_parts: ClassVar[bool] = False

    categorical_features: Any
    classes_: NDArray[Any]
    _scorecard: Scorecard | None

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A pandas, polars or pyarrow table, a 2-D array, or a list of rows; for some models a
            Dask DataFrame or Array too.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; weight 2 is the same as the row twice. Only in a cross-validation it
            is not, since a row and its weight are never split between folds.

        Returns
        -------
        estimator
            The estimator itself.
        """
        if is_distributed(X):
            return self._fit_distributed(X, y, sample_weight)
        class_weight = self._weight_of_classes()
        training = read_training(X, y, sample_weight, self.categorical_features, class_weight)
        self._learn(training)
        table = training.table
        self.scorecard_.observe(table.columns, table.n_rows, training.weights)
        return self

    def _weight_of_classes(self) -> Any:
        """Return what the weights of rows are multiplied by, class by class."""
        return getattr(self, "class_weight", None)

    def _learn(self, training: Any) -> None:
        """Learn from rows, which may be in parts; if that fails, the estimator is as it was."""
        raise NotImplementedError

    def _check_parts(self) -> None:
        """Raise TypeError unless the model learns from a table in parts, and has parameters."""
        if not self._learns_from_parts:
            raise TypeError(
                f"{type(self).__name__} does not learn from a table in parts, but NaiveBayes, "
                "AttributeWeightedNB, BaristaNB, FractionalNB, NBLogistic and LessNaiveClassifier "
                "do: take one of these, or a table that fits into memory."
            )
        check_parameters(self)

    def _fit_distributed(self, X: Any, y: Any, sample_weight: Any) -> Self:
        from lessnaive.parts.distributed import fit_distributed

        fit_distributed(self, X, y, sample_weight)
        return self

    @fitting
    def _fit_parts(self, training: Any) -> Self:
        """Fit the model to a table in parts, or to the sum over rows that it asked for."""
        self._learn(training)
        if not all(term.is_counted for term in self.scorecard_.terms):
            some = training.sample(MOST_OBSERVED)
            self.scorecard_.observe(some.table.columns, len(some.labels), some.weights)
        return self

    def _sum_over_rows(self) -> RowSum | None:
        """Return the only thing that the model wants of rows in parts, if it is a sum over them."""
        return None

    @property
    def scorecard_(self) -> Scorecard:
        """The fitted model: what each value of each column adds to the score of each class."""
        scorecard: Scorecard | None = getattr(self, "_scorecard", None)
        if scorecard is None:
            raise AttributeError("scorecard_ is there after fit only")
        return scorecard

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column: mean absolute centred contribution over the training rows.

        It is in the unit of the scores (nats), never negative, and the same number in all models:
        see ``Scorecard.importance``. The importance of a pair of columns is shared evenly by
        the two; a column that the model does not use has 0. The sum is not 1: each number stands
        for itself.
        """
        return self._fitted_scorecard().column_importance()

    @part_by_part
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; the first one where several tie.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = self._predictor().joint_log_probability(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    @part_by_part
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._predictor().probability(X)

    @part_by_part
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._predictor().log_probability(X)

    @part_by_part
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Score of each class for each row: log P(class) + log P(row | class).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._predictor().joint_log_probability(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose class is predicted.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        if not is_distributed(X):
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import accuracy_score

        given: tuple[Any, ...] = (self.predict(X), y, sample_weight)
        found, labels, weights = (
            each.compute() if is_distributed(each) else each for each in given
        )
        return float(accuracy_score(labels, found, sample_weight=weights))

    def _set_columns_and_classes(self, schema: Schema, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        schema.publish(self)

    def _state_to_plain(self) -> dict[str, Any]:
        """Return what a model file keeps besides parameters and scorecard, as plain data."""
        return {}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        """Become the fitted model of a model file; the scores are taken as they are.

        An estimator that overrides ``_state_to_plain`` reads here what it wrote there.
        """
        state.record()
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard

    def _leave_codes(self, recoding: TableRecoding) -> None:
        """Become a model of the columns that codes, which it was fitted to, were made of.

        An estimator that keeps more scorecards, or codes, puts these into their place here.
        """
        self._scorecard = recoding.scorecard(self._fitted_scorecard())
        self._set_columns_and_classes(recoding.schema, self._scorecard.classes)

    def _predictor(self) -> Predictor:
        """Return what predictions are made with: the scorecard, unless a subclass has more."""
        return self._fitted_scorecard()

    def _fitted_scorecard(self) -> Scorecard:
        scorecard: Scorecard | None = getattr(self, "scorecard_", None)
        if scorecard is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit first."
            )
        return scorecard

    def _repr_html_inner(self) -> str:
        """Return the diagram of scikit-learn and, once there is one, the scorecard."""
        return str(super()._repr_html_inner()) + self._scorecard_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return what a notebook shows."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._scorecard_html()
        return bundle

    def _scorecard_html(self) -> str:
        scorecard: Scorecard | None = getattr(self, "scorecard_", None)
        return "" if scorecard is None else scorecard._repr_html_()

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what inputs are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
