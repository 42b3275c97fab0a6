"""Two methods on the folds of one table, whose training rows overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as t_distribution

__all__ = ["ResampledTest", "corrected_resampled_t_test"]


class ResampledTest(NamedTuple):
    """What the corrected t-test says of the differences of two methods.

    Attributes
    ----------
    mean : float
        Mean difference.
    error : float
        Its standard error, corrected.
    statistic : float
        Their ratio.
    p_value : float
        Two-sided.
    """

    mean: float
    error: float
    statistic: float
    p_value: float


def corrected_resampled_t_test(
    differences: ArrayLike, *, test_share: float | None = None
) -> ResampledTest:
    r"""Test whether two methods differ on one table, by the corrected resampled t-test.

    Folds share training rows, so that their scores are correlated and the usual t-test sees
    differences where there are none. With the mean d and the variance :math:`s^2` of J differences
    and :math:`n_2 / n_1` test rows per training row [1]_,

    .. math:: t = \frac{d}{\sqrt{(\frac{1}{J} + \frac{n_2}{n_1}) s^2}}

    with J - 1 degrees of freedom.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        Score of one method minus score of the other, in each fold of each repetition.
    test_share : float, optional
        Share of the rows in a test fold. By default that of one cross-validation, 1 / n_splits; in
        5-fold cross-validation that is repeated, 0.2.

    Returns
    -------
    ResampledTest
        With one difference nothing is known: the p-value is 1.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52,
       2003.

    Examples
    --------
    >>> from lessnaive.stats import corrected_resampled_t_test
    >>> gains = [0.02, 0.03, 0.01, 0.04, 0.02, 0.03, 0.00, 0.02, 0.03, 0.02]
    >>> test = corrected_resampled_t_test(gains, test_share=0.2)
    >>> round(test.statistic, 2), round(test.p_value, 3)
    (3.28, 0.01)
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or not len(d) or not np.isfinite(d).all():
        raise ValueError("differences must be a list of finite numbers, one for each fold.")
    share = 1.0 / len(d) if test_share is None else test_share
    mean = float(d.mean())
    if len(d) == 1:
        return ResampledTest(mean, float("nan"), float("nan"), 1.0)
    if not 0 < share < 1:
        raise ValueError(f"test_share={share} is not between 0 and 1.")
    error = float(np.sqrt((1.0 / len(d) + share / (1.0 - share)) * d.var(ddof=1)))
    if error == 0.0:
        statistic = float(np.copysign(np.inf, mean)) if mean else 0.0
    else:
        statistic = mean / error
    p_value = 2.0 * float(t_distribution.sf(abs(statistic), len(d) - 1))
    return ResampledTest(mean, error, statistic, min(1.0, p_value))
