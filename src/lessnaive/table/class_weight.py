"""Weights of classes, which multiply the weights of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["times_class_weight"]

Floats = NDArray[np.float64]


def times_class_weight(
    weights: Floats | None,
    class_weight: Any,
    classes: NDArray[Any],
    labels: NDArray[Any],
    *,
    strict: bool = True,
) -> Floats | None:
    """Multiply the weight of each row by the weight of its class.

    "balanced" gives class c the weight :math:`W / (C W_c)`, with :math:`W_c` the weight of its
    rows, W the sum of these, and C the number of classes: the total does not change, and all
    classes have the same share of it.

    Parameters
    ----------
    weights : array of shape (n_rows,) or None
        Weights of the rows.
    class_weight : "balanced", mapping or None
        Weights of classes; 1 for a class that a mapping does not name.
    classes : array of shape (n_classes,)
        The classes.
    labels : array of shape (n_rows,)
        Place of each row's class.
    strict : bool, default=True
        Whether a class that is named must be among the classes; in a stream it may come later.

    Returns
    -------
    array of shape (n_rows,) or None
    """
    if class_weight is None:
        return weights
    rows = np.ones(len(labels)) if weights is None else weights
    if isinstance(class_weight, str):
        total = np.bincount(labels, rows, minlength=len(classes))
        factors = total.sum() / (len(classes) * np.where(total > 0, total, np.inf))
    else:
        factors = _given(class_weight, classes, strict)
    return np.asarray(rows * factors[labels])


def _given(class_weight: Mapping[Any, float], classes: NDArray[Any], strict: bool) -> Floats:
    places = {label: place for place, label in enumerate(classes.tolist())}
    factors = np.ones(len(classes))
    for label, weight in class_weight.items():
        if label not in places and strict:
            known = ", ".join(repr(known) for known in list(places)[:10])
            raise ValueError(
                f"class_weight names {label!r}, which is not a class of the target: {known}."
            )
        number = np.asarray(weight)
        if number.ndim or number.dtype.kind not in "iuf" or not 0 < number < np.inf:
            raise ValueError(
                f"class_weight of {label!r} must be a finite number above 0, got {weight!r}."
            )
        if label in places:
            factors[places[label]] = number
    return factors
