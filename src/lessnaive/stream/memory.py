"""How much memory a stream takes at most."""

from __future__ import annotations

__all__ = ["memory_bound"]

# Bytes of a number, of a summary's own fields, and of a level's with room for twice as many levels.
_NUMBER, _SUMMARY, _LEVEL = 8, 512, 160
# Bytes of a value's place in the list and the dictionary of values, and of these when empty.
_PLACE, _EMPTY = 160, 1024


def memory_bound(
    n_numeric: int,
    n_categorical: int,
    n_classes: int,
    *,
    summary_size: int = 1000,
    max_values: int = 1000,
    value_bytes: int = 100,
    n_rows: int = 2**53,
    history_size: int = 0,
) -> int:
    """Bytes that :meth:`lessnaive.NaiveBayes.partial_fit` keeps of a stream at most.

    Only what is kept counts, not the batch that is being added.

    Parameters
    ----------
    n_numeric : int
        Number of numeric columns.
    n_categorical : int
        Number of categorical columns.
    n_classes : int
        Number of classes.
    summary_size, max_values : int
        The parameters of the estimator.
    value_bytes : int, default=100
        Size of the largest value of a categorical column, as a Python object: a string of ASCII
        letters takes 49 bytes and its length.
    n_rows : int, default=2**53
        The most rows that will come. Twice as many rows take one more level of the summaries, so
        that the bound for all rows that can be counted is no more than some times as large.
    history_size : int, default=0
        The last rows that :meth:`lessnaive.FractionalNB.partial_fit` keeps besides, 10,000 by
        default there, for batches that are no larger.

    Returns
    -------
    int

    Examples
    --------
    >>> from lessnaive.stream import memory_bound
    >>> memory_bound(10, 10, n_classes=2, n_rows=10_000_000)
    6440480
    """
    row = _NUMBER * (1 + n_classes)
    levels = max(n_rows // summary_size, 1).bit_length()
    rows_waiting = summary_size * (2 * _NUMBER + 4)
    level = summary_size * row + _NUMBER * n_classes + _LEVEL
    numeric = _SUMMARY + _NUMBER * n_classes + rows_waiting + levels * level
    value = value_bytes + row + _PLACE
    categorical = _EMPTY + 2 * _NUMBER * n_classes + max_values * value
    statistics = n_numeric * numeric + n_categorical * categorical
    if history_size == 0:
        return statistics
    # Values are let go when there are twice as many as rows, and a batch may bring as many.
    words = 3 * history_size * (value_bytes + _PLACE) + _EMPTY
    cells = history_size * (_NUMBER * (n_numeric + 2) + 4 * n_categorical)
    return statistics + cells + n_categorical * words
