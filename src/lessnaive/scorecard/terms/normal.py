"""Points that stand for normal distributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["normal_points"]

Floats = NDArray[np.float64]

# Nodes of the Gauss-Hermite rule that stands for the rows of a class: exact for a parabola.
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(64)


def normal_points(center: Floats, deviation: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return points that stand for normal distributions, and their weights.

    Parameters
    ----------
    center, deviation, weights : array of shape (n_classes,)
        Mean, standard deviation and weight of each distribution.

    Returns
    -------
    tuple of two arrays of shape (n_nodes * n_classes,)
        Node by node, class by class.
    """
    points = center + np.multiply.outer(_NODES, deviation)
    shares = np.multiply.outer(_NODE_WEIGHTS / _NODE_WEIGHTS.sum(), weights)
    return points.ravel(), shares.ravel()
