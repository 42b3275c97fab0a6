"""Correlation-based selection of columns."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self, get_args

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from lessnaive._sklearn import Interval, StrOptions, checked_fit
from lessnaive.selection.dependence import Dependence, code_columns
from lessnaive.selection.subsets import SEARCHES, SubsetSearch, locally_predictive
from lessnaive.table import Schema, read_table
from lessnaive.table.frames import is_frame
from lessnaive.table.reading import as_array
from lessnaive.table.training import Training, read_training

__all__ = ["CFSSelector"]


class CFSSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Columns that tell much about the class and little about each other.

    A subset S of the columns has the merit

    .. math::
        \frac{\sum_{j \in S} \mathrm{SU}(x_j, c)}{\sqrt{\sum_{j, k \in S} \mathrm{SU}(x_j, x_k)}},
        \qquad
        \mathrm{SU}(a, b) = 2 \, \frac{H(a) + H(b) - H(a, b)}{H(a) + H(b)}

    where SU is the symmetrical uncertainty of two columns, between 0 (independent) and 1 (each
    determines the other), and H the entropy. A search looks for the subset with the highest merit
    [1]_. Numeric columns are cut into the bins of :class:`MDLPDiscretizer`.

    Parameters
    ----------
    search : {"best_first", "forward"}, default="best_first"
        "forward" adds the best column as long as the merit grows. "best_first" goes on from there:
        it extends the best subset that it has not extended yet.
    max_stale : int, default=5
        "best_first" ends after so many extensions in a row without a better subset, and keeps as
        many subsets open.
    locally_predictive : bool, default=False
        Whether to add, after the search, columns that tell more about the class than about any of
        the chosen columns. WEKA does so unless told otherwise. It helps where a column matters in
        a few rows only, and lets in columns that tell little about anything.
    min_features : int, default=1
        If fewer columns are chosen, those that tell most about the class are added: a table
        without columns would be no use to a classifier.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities; see :class:`NaiveBayes`.
    missing : {"spread", "category"}, default="spread"
        How a row with a missing value is counted: for all values of the column, in proportion to
        how often they occur, so that a column with many gaps tells little; or missing is a value
        of its own. (Pairs of columns with more than four million combinations of values are
        always counted in the second way.)

    Attributes
    ----------
    support_ : array of shape (n_features,)
        Whether each column was chosen.
    relevance_ : array of shape (n_features,)
        Symmetrical uncertainty of each column with the class.
    merit_ : float
        Merit of the subset that the search has found.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (``n_features_in_``,)
        Names of the columns, if the table had names.

    See Also
    --------
    SelectiveNB : A choice of columns by how well naive Bayes classifies with them.

    Notes
    -----
    These are the choices of WEKA's CfsSubsetEval, with three exceptions. WEKA charges less for a
    cut between bins where values are repeated, so that its bins of such columns may differ. It
    takes two columns that tell (almost) nothing about each other to be redundant; here they are
    not. And the columns that it adds after the search may tell as much about a chosen column as
    about the class; here they must tell more about the class.

    References
    ----------
    .. [1] M. A. Hall (2000). Correlation-based feature selection for discrete and numeric class
       machine learning. Proceedings of the Seventeenth International Conference on Machine
       Learning, 359-366.

    Examples
    --------
    >>> import pandas as pd
    >>> from lessnaive import CFSSelector
    >>> X = pd.DataFrame({
    ...     "colour": ["red", "red", "red", "green", "green", "green"],
    ...     "shade": ["dark", "dark", "light", "light", "pale", "pale"],
    ...     "shape": ["round", "long", "round", "long", "round", "long"],
    ... })
    >>> selector = CFSSelector().fit(X, ["apple", "apple", "apple", "pear", "pear", "pear"])
    >>> selector.get_feature_names_out()
    array(['colour'], dtype=object)
    >>> selector.relevance_.round(2)
    array([1.  , 0.52, 0.08])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "search": [StrOptions(set(get_args(SubsetSearch)))],
        "max_stale": [Interval(Integral, 1, None, closed="left")],
        "locally_predictive": ["boolean"],
        "min_features": [Interval(Integral, 0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype", "all"}), None],
        "missing": [StrOptions({"spread", "category"})],
    }

    def __init__(
        self,
        *,
        search: str = "best_first",
        max_stale: int = 5,
        locally_predictive: bool = False,
        min_features: int = 1,
        categorical_features: Any = "from_dtype",
        missing: str = "spread",
    ) -> None:
        self.search = search
        self.max_stale = max_stale
        self.locally_predictive = locally_predictive
        self.min_features = min_features
        self.categorical_features = categorical_features
        self.missing = missing

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Choose columns.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A pandas, polars or pyarrow table, a 2-D array, or a list of rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; weight 2 is the same as the row twice.

        Returns
        -------
        CFSSelector
            The transformer itself.
        """
        training = read_training(X, y, sample_weight, self.categorical_features)
        dependence = self._dependence(training)
        width = len(training.schema)
        found = SEARCHES[self.search](dependence, width, self.max_stale)
        columns = found.columns
        if self.locally_predictive:
            columns = locally_predictive(dependence, columns)
        ranked = np.argsort(-dependence.relevance, kind="stable").tolist()
        more = [j for j in ranked if j not in columns]
        chosen = [*columns, *more[: max(0, self.min_features - len(columns))]]
        self.support_ = np.zeros(width, dtype=bool)
        self.support_[chosen] = True
        self.relevance_ = dependence.relevance
        self.merit_ = found.merit
        self._schema: Schema = training.schema
        training.schema.publish(self)
        return self

    def transform(self, X: Any) -> Any:
        """Keep the chosen columns.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        table of shape (n_samples, n_selected)
            Of the same library as X; an array if X is a list of rows.
        """
        check_is_fitted(self)
        table = read_table(X)
        self._schema.match(table, type(self).__name__)
        places = np.flatnonzero(self.support_).tolist()
        if self._schema.named and table.named:
            place = {name: j for j, name in enumerate(table.names)}
            places = [place[self._schema.names[j]] for j in places]
        if hasattr(X, "iloc"):
            return X.iloc[:, places]
        if not isinstance(X, np.ndarray | list | tuple) and is_frame(X):
            return nw.from_native(X, eager_only=True)[:, places].to_native()
        return as_array(X)[:, places]

    def _dependence(self, training: Training) -> Dependence:
        return Dependence(
            code_columns(training),
            training.labels,
            training.weights,
            spread_missing=self.missing == "spread",
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what inputs are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
