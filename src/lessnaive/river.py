"""Classifiers of lessnaive in river, where rows are dictionaries that come one by one."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lessnaive.models import NaiveBayes
from lessnaive.models.base import ScorecardClassifier
from lessnaive.scorecard.one_row import RowScorer, Unusual
from lessnaive.table import Column, Table, read_table
from lessnaive.table.column import ArrayColumn, EmptyColumn, ObjectColumn

try:
    from river import base
except ImportError as error:
    raise ImportError(
        "lessnaive.river needs river: install it with pip install 'lessnaive[river]'."
    ) from error

__all__ = ["RiverClassifier"]

Row = Mapping[Any, Any]

# At most one row in so many waits.
_WAITING = 10


class RiverClassifier(base.MiniBatchClassifier):  # type: ignore[misc]
    """A classifier of lessnaive with the interface of river.

    Rows are dictionaries of numbers, strings, booleans or None. A key that is absent is a missing
    value; keys may come and go. New classes and new values are welcome at any time, and so are new
    keys where the model can take them, as :class:`~lessnaive.NaiveBayes` can; other models keep to
    the keys of their first rows.

    Parameters
    ----------
    model : classifier with partial_fit, default=None
        What learns; it is cloned. None is ``NaiveBayes()``.
    batch_size : int, default=100
        Number of rows that are learned together, which is much faster than one by one. Rows wait
        until there are so many of them.
    exact : bool, default=True
        Whether all rows that wait are learned before a prediction is made. If False, predictions
        may not know the last rows yet, less than ``batch_size`` and than a tenth of all: many
        times faster where each row is predicted and then learned.

    See Also
    --------
    lessnaive.stream.Prequential : The same evaluation for batches, without river.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.river import RiverClassifier
    >>> model = RiverClassifier(NaiveBayes(smoothing=0.5), exact=False)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 91.03%
    >>> model.learned
    NaiveBayes(smoothing=0.5)
    """

    def __init__(
        self,
        model: ScorecardClassifier | None = None,
        batch_size: int = 100,
        exact: bool = True,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be 1 or more, got {batch_size}.")
        self.model = model
        self.batch_size = batch_size
        self.exact = exact
        self._learner: Any = NaiveBayes() if model is None else clone(model)
        if not hasattr(self._learner, "partial_fit"):
            raise TypeError(f"{self._learner} cannot learn from a stream: it has no partial_fit.")
        self._places: dict[Hashable, int] = {}
        self._names: list[str] = []
        self._waiting: list[tuple[dict[Any, Any], Any, float]] = []
        self._n_learned = 0
        self._scorer: RowScorer | None = None

    @property
    def learned(self) -> Any:
        """The model of lessnaive, with all rows learned: to explain, to save, to show."""
        self._learn_waiting()
        return self._learner

    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:
        """Learn from a row; it may wait until a batch is full.

        Parameters
        ----------
        x : dict
            The row.
        y : label
            Its class.
        w : float, default=1.0
            Its weight.
        """
        self._waiting.append((dict(x), y, w))
        if len(self._waiting) >= self.batch_size:
            self._learn_waiting()

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a data frame.

        Parameters
        ----------
        X : data frame
            The rows.
        y : series
            Their classes.
        w : array-like, optional
            Their weights.
        """
        self._learn_waiting()
        if not len(X):
            return
        table = read_table(X)
        self._learn(dict(zip(X.columns, table.columns, strict=True)), table.n_rows, y, w)

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """Probability of each class.

        Parameters
        ----------
        x : dict
            The row.
        **kwargs : object
            Ignored.

        Returns
        -------
        dict of label to float
            Empty as long as nothing was learned.
        """
        # The first rows change a model much: they are not kept waiting for long.
        if self.exact or _WAITING * len(self._waiting) > self._n_learned:
            self._learn_waiting()
        if not self._n_learned:
            return {}
        row: list[Any] = [None] * len(self._names)
        for key, value in x.items():
            place = self._places.get(key)
            if place is not None:
                row[place] = value
        return dict(zip(self._learner.classes_.tolist(), self._probability(row), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """Probability of each class for the rows of a pandas frame.

        Parameters
        ----------
        X : pandas DataFrame
            The rows.

        Returns
        -------
        pandas DataFrame
            With the index of `X`, and a column for each class; none as long as nothing was learned.
        """
        import pandas as pd

        self._learn_waiting()
        if not self._n_learned:
            return pd.DataFrame(index=X.index)
        table = read_table(X)
        columns = dict(zip(X.columns, table.columns, strict=True))
        chances = self._learner.predict_proba(self._arranged(columns, table.n_rows))
        return pd.DataFrame(chances, columns=self._learner.classes_.tolist(), index=X.index)

    def predict_many(self, X: Any) -> Any:
        """Most probable class for each row of a pandas frame.

        Parameters
        ----------
        X : pandas DataFrame
            The rows.

        Returns
        -------
        pandas Series
            With the index of `X`; None as long as nothing was learned.
        """
        import pandas as pd

        chances = self.predict_proba_many(X)
        if not chances.shape[1]:
            return pd.Series([None] * len(X), index=X.index, dtype=object)
        labels = chances.columns.to_numpy()[chances.to_numpy().argmax(axis=1)]
        return pd.Series(labels, index=X.index)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made anew when it is needed."""
        return {**self.__dict__, "_scorer": None}

    @property
    def _multiclass(self) -> bool:
        return True

    def _learn_waiting(self) -> None:
        """Learn the rows that wait; a row that is refused is let go, and none that is not."""
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        try:
            self._learn_rows(rows)
        except Exception:
            if len(rows) == 1:
                raise
            refused: Exception | None = None
            for row in rows:
                try:
                    self._learn_rows([row])
                except Exception as error:
                    refused = refused or error
            if refused is not None:
                raise refused from None

    def _learn_rows(self, rows: Sequence[tuple[dict[Any, Any], Any, float]]) -> None:
        records = [x for x, _, _ in rows]
        keys = dict.fromkeys(key for record in records for key in record)
        columns = {key: _column([record.get(key) for record in records]) for key in keys}
        weights = [w for _, _, w in rows]
        unweighted = all(w == 1 for w in weights)
        self._learn(columns, len(rows), [y for _, y, _ in rows], None if unweighted else weights)

    def _learn(self, columns: Mapping[Hashable, Column], n_rows: int, y: Any, weights: Any) -> None:
        """Learn from columns, some of which may be new, and others absent."""
        before = self._places, self._names, dict(self._learner.__dict__)
        try:
            new = [key for key in columns if key not in self._places]
            if new and (not self._n_learned or hasattr(self._learner, "_add_columns")):
                self._add_names(new)
            self._learner.partial_fit(self._arranged(columns, n_rows), y, sample_weight=weights)
        except Exception:
            self._places, self._names, self._learner.__dict__ = before
            raise
        self._n_learned += n_rows
        self._scorer = None

    def _add_names(self, keys: Sequence[Hashable]) -> None:
        """Make room for new columns."""
        places, taken = dict(self._places), set(self._names)
        fresh: list[str] = []
        for key in keys:
            places[key] = len(places)
            fresh.append(_new_name(key, taken))
            taken.add(fresh[-1])
        self._places, self._names = places, [*self._names, *fresh]
        if self._n_learned:
            self._learner._add_columns(fresh)

    def _arranged(self, columns: Mapping[Hashable, Column], n_rows: int) -> Table:
        """Return the columns in the order of the model, those that are absent as missing."""
        out: list[Column] = [EmptyColumn(name, n_rows) for name in self._names]
        for key, column in columns.items():
            place = self._places.get(key)
            if place is not None:
                column.name = self._names[place]
                out[place] = column
        return Table(out, n_rows, named=True)

    def _probability(self, row: list[Any]) -> Sequence[float]:
        if self._scorer is None:
            self._scorer = RowScorer(self._learner.scorecard_)
        try:
            return self._scorer.probability(row)
        except (Unusual, TypeError, OverflowError):
            columns = dict(zip(self._places, (_column([value]) for value in row), strict=True))
            chances: NDArray[np.float64] = self._learner.predict_proba(self._arranged(columns, 1))
            return [float(p) for p in chances[0]]


def _column(values: list[Any]) -> Column:
    """Return values as a column without a name yet; plain numbers the fast way."""
    if set(map(type, values)) <= {int, float}:
        numbers = np.array(values, dtype=np.float64)
        return ArrayColumn("", numbers)
    return ObjectColumn("", values)


def _new_name(key: Hashable, taken: Collection[str]) -> str:
    """Return the name of a column for a key, which need not be a string."""
    name = key if isinstance(key, str) else repr(key)
    while name in taken:
        name += "'"
    return name
