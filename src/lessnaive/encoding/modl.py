"""MODL: discretization and value grouping that minimize a description length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive._sklearn import StrOptions, checked_fit
from lessnaive.encoding.base import SupervisedEncoder, groups_of
from lessnaive.encoding.binning import find_binnings
from lessnaive.encoding.edited import Edits
from lessnaive.table import Value
from lessnaive.table.training import Training, read_training

__all__ = ["MODLEncoder"]


class MODLEncoder(SupervisedEncoder):
    r"""Bins of numeric columns and groups of categories, by the MODL criterion.

    Numeric columns are cut into the I intervals, and the V values of categorical columns put into
    the K groups, that minimize [1]_ [2]_

    .. math::
        \log N + \log \binom{N + I - 1}{I - 1}
        + \sum_i \log \binom{N_i + J - 1}{J - 1} + \sum_i \log \frac{N_i!}{\prod_j N_{ij}!}
        \quad\text{and}\quad
        \log V + \log B(V, K)
        + \sum_k \log \binom{N_k + J - 1}{J - 1} + \sum_k \log \frac{N_k!}{\prod_j N_{kj}!}

    with J classes, :math:`N_{ij}` rows of class j in interval i, and B(V, K) the number of ways to
    put V values into at most K groups. A column that says nothing about the class gets one bin.

    Parameters
    ----------
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are grouped: with "from_dtype" those of strings, categories, booleans
        and other objects; with a list of names or positions or a mask, these and the ones listed.
    missing : {"category", "ignore"}, default="category"
        Whether missing is a value, which in a categorical column is grouped with others or alone,
        and in a numeric one stands below or above all numbers, whichever costs less; or is left out
        and has code 0. In columns that the parameters below name, a missing value that is a value
        is a bin of its own.
    special_values : mapping, default=None
        By column values that are bins of their own, such as -1 for unknown: the other values are
        binned as if the rows with these were not there.
    monotonic_cst : mapping or array-like of shape (n_features,), default=None
        For two classes, by numeric column whether the share of the second one may only rise from
        bin to bin (1), only fall (-1), or neither (0): the best of all such bins are found, where a
        column has up to 200 different values, else the best ones that put together about 100
        intervals of equal weight and those that MODL finds.
    cuts : mapping, default=None
        By numeric column the edges of its bins, if they are not to be found; an edge belongs to the
        bin below.
    groups : mapping, default=None
        By categorical column its groups, as lists of values, None for missing, if they are not to
        be found. All values of the table must be in one of them.

    Attributes
    ----------
    bins_ : list
        Intervals (low, high] of each numeric column; None for other columns.
    groups_ : list
        Lists of values, None for missing, of each categorical column; None for other columns.
    cuts_ : list
        Cut points of each numeric column; None for other columns.
    cost_ : array of shape (``n_features_in_``,)
        The criterion.
    null_cost_ : array of shape (``n_features_in_``,)
        The criterion of a single bin.
    level_ : array of shape (``n_features_in_``,)
        1 - cost / null cost: 0 if the column says nothing about the class.
    preparation_cost_ : array of shape (``n_features_in_``,)
        The part of the cost that the bins themselves have: all but the last sum.
    classes_ : array of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (``n_features_in_``,)
        Names of the columns, if the table had names.

    References
    ----------
    .. [1] M. Boullé (2006). MODL: a Bayes optimal discretization method for continuous attributes.
       Machine Learning 65(1), 131-165.
    .. [2] M. Boullé (2005). A Bayes optimal approach for partitioning the values of categorical
       attributes. Journal of Machine Learning Research 6, 1431-1452.

    Examples
    --------
    >>> from lessnaive import MODLEncoder
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> encoder = MODLEncoder().fit(X, y)
    >>> encoder.groups_[0]
    [['Biscoe'], ['Dream'], ['Torgersen']]
    >>> len(encoder.bins_[1])
    3
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical_features": ["array-like", StrOptions({"from_dtype", "all"}), None],
        "missing": [StrOptions({"category", "ignore"})],
        "special_values": [Mapping, None],
        "monotonic_cst": [Mapping, "array-like", None],
        "cuts": [Mapping, None],
        "groups": [Mapping, None],
    }

    def __init__(
        self,
        *,
        categorical_features: Any = "from_dtype",
        missing: str = "category",
        special_values: Mapping[Any, Sequence[Any]] | None = None,
        monotonic_cst: Mapping[Any, int] | ArrayLike | None = None,
        cuts: Mapping[Any, Sequence[float]] | None = None,
        groups: Mapping[Any, Sequence[Sequence[Any]]] | None = None,
    ) -> None:
        self.categorical_features = categorical_features
        self.missing = missing
        self.special_values = special_values
        self.monotonic_cst = monotonic_cst
        self.cuts = cuts
        self.groups = groups

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the bins and groups.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; weight 2 is the same as the row twice.

        Returns
        -------
        MODLEncoder
            The transformer itself.
        """
        return self._fit_rows(read_training(X, y, sample_weight, self.categorical_features))

    def _fit_rows(self, training: Training) -> Self:
        edits = Edits.of(
            training.schema,
            len(training.classes),
            special_values=self.special_values,
            monotonic_cst=self.monotonic_cst,
            cuts=self.cuts,
            groups=self.groups,
        )
        use_missing = self.missing == "category"
        binnings = find_binnings(training, "modl", group=True, use_missing=use_missing)
        edits.apply(binnings, training, "modl", use_missing=use_missing)
        self._adopt(training, binnings)
        return self

    @property
    def groups_(self) -> list[list[list[Value | None]] | None]:
        """Groups of each categorical column, None for other columns."""
        return [groups_of(binning) for binning in self._fitted_binnings()]

    @property
    def cost_(self) -> NDArray[np.float64]:
        """The criterion, by column."""
        return np.array([binning.cost for binning in self._fitted_binnings()])

    @property
    def null_cost_(self) -> NDArray[np.float64]:
        """The criterion of a single bin, by column."""
        return np.array([binning.null_cost for binning in self._fitted_binnings()])

    @property
    def level_(self) -> NDArray[np.float64]:
        """How much of the null cost is saved, by column."""
        return np.array([binning.level for binning in self._fitted_binnings()])

    @property
    def preparation_cost_(self) -> NDArray[np.float64]:
        """The part of the cost that the bins themselves have, by column."""
        return np.array([binning.preparation_cost for binning in self._fitted_binnings()])
