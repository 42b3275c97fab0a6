"""Binary columns: the Bernoulli likelihood with a Beta prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.likelihood.categorical import log_ratio

__all__ = ["bernoulli_log_likelihood", "broadcast_beta"]


def bernoulli_log_likelihood(
    counts: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Return log p(value | class) of a binary column, by maximum a posteriori.

    .. math:: \mu_c = \frac{N_{1c} + a_c - 1}{N_{0c} + N_{1c} + a_c + b_c - 2}

    the mode of the posterior Beta distribution. a = b = 1 is maximum likelihood and a = b = 2
    add-one smoothing. Where the mode is not inside (0, 1) it is at the border that the posterior
    prefers; where the posterior is flat it is taken to be 1/2.

    Parameters
    ----------
    counts : array of shape (2, n_classes)
        Weight of the rows with the first and with the second value, by class.
    a, b : arrays of shape (n_classes,)
        Parameters of the prior: a for the second value (True, 1), b for the first (False, 0).

    Returns
    -------
    array of shape (2, n_classes)
    """
    pseudo = np.stack([b, a]) - 1.0
    mass = np.maximum(counts + pseudo, 0.0)
    flat = mass.sum(axis=0) == 0
    mass = np.where(flat, 0.5, mass)
    return log_ratio(mass, mass.sum(axis=0))


def broadcast_beta(
    beta: tuple[ArrayLike, ArrayLike], n_classes: int, n_features: int
) -> NDArray[np.float64]:
    """Both parameters of the prior for each class and column: shape (2, n_classes, n_features).

    Each may be a number, one number per class (shape (n_classes,) or (n_classes, 1)), one per
    column (shape (n_features,) or (1, n_features)), or one per class and column.
    """
    if len(beta) != 2:
        raise ValueError("beta must be a pair (a, b).")
    out = np.empty((2, n_classes, n_features))
    for place, letter in enumerate("ab"):
        values = np.asarray(beta[place], dtype=np.float64)
        if values.ndim == 1 and values.size == n_classes == n_features > 1:
            raise ValueError(
                f"beta: {letter} is a flat list of {values.size} numbers, which could be one per "
                "class or one per column: give it the shape (n_classes, 1) or (1, n_features)."
            )
        if values.ndim == 1 and values.size == n_classes:
            values = values[:, None]
        try:
            out[place] = values
        except ValueError:
            raise ValueError(
                f"beta: {letter} has shape {values.shape}, which fits neither {n_classes} classes "
                f"nor {n_features} columns."
            ) from None
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise ValueError(f"beta: {letter} must be positive and finite.")
    return out
