"""Discretization by the minimum description length principle of Fayyad and Irani."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from lessnaive._sklearn import checked_fit
from lessnaive.encoding.base import SupervisedEncoder
from lessnaive.encoding.binning import find_binnings
from lessnaive.encoding.edited import Edits
from lessnaive.exceptions import TableError
from lessnaive.table import Kind
from lessnaive.table.training import read_training

__all__ = ["MDLPDiscretizer"]


class MDLPDiscretizer(SupervisedEncoder):
    r"""Bins of numeric columns by recursive cuts that pay for themselves.

    A set S of N rows is cut at the value that leaves the least class entropy, if

    .. math::
        \mathrm{Ent}(S) - \sum_{i=1}^{2} \frac{|S_i|}{N} \mathrm{Ent}(S_i)
        > \frac{\log_2(N - 1) + \log_2(3^k - 2)
        - k\,\mathrm{Ent}(S) + k_1\,\mathrm{Ent}(S_1) + k_2\,\mathrm{Ent}(S_2)}{N}

    with k, k1, k2 the numbers of classes in S and its two parts; then both parts are looked at in
    the same way [1]_. A cut lies halfway between two differing values; of several equally good
    cuts the lowest is taken. Missing values are left out, and have code 0.

    Parameters
    ----------
    special_values : mapping, default=None
        By column values that are bins of their own, such as -1 for unknown: the other values are
        binned as if the rows with these were not there.

    Attributes
    ----------
    bins_ : list of lists of (low, high)
        Intervals of each column: low < x <= high.
    cuts_ : list of arrays
        Cut points of each column. A column without a single value, of which a warning is given, has
        none.
    classes_ : array of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (``n_features_in_``,)
        Names of the columns, if the table had names.

    References
    ----------
    .. [1] U. M. Fayyad and K. B. Irani (1993). Multi-interval discretization of continuous-valued
       attributes for classification learning. IJCAI, 1022-1027.

    Examples
    --------
    >>> from lessnaive import MDLPDiscretizer
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]
    >>> encoder = MDLPDiscretizer().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> encoder.cuts_
    [array([4.5])]
    >>> encoder.transform([[4.0], [5.0], [None]])
    array([[1],
           [2],
           [0]], dtype=uint8)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"special_values": [Mapping, None]}

    def __init__(self, *, special_values: Mapping[Any, Sequence[Any]] | None = None) -> None:
        self.special_values = special_values

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the cuts.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numeric columns.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; weight 2 is the same as the row twice.

        Returns
        -------
        MDLPDiscretizer
            The transformer itself.
        """
        training = read_training(X, y, sample_weight, "from_dtype")
        for column, categorical in zip(
            training.table.columns, training.schema.categorical, strict=True
        ):
            if categorical and column.kind is not Kind.EMPTY:
                raise TableError(
                    f"Column {column.name!r} holds {column.kind.plural}: MDLPDiscretizer takes "
                    "numeric columns only; leave it out, or use MODLEncoder."
                )
        edits = Edits.of(training.schema, len(training.classes), special_values=self.special_values)
        binnings = find_binnings(training, "mdlp", group=False, use_missing=False)
        edits.apply(binnings, training, "mdlp", use_missing=False)
        self._adopt(training, binnings)
        return self
