"""Searches in one dimension, many of them side by side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["brackets", "find_root", "first_lowest", "newton_root"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_MOST_STEPS = 200


def find_root(function: Callable[[Floats, Indices], Floats], low: Floats, high: Floats) -> Floats:
    """Find where functions cross zero from below, to the last digits.

    The method of Chandrupatla (1997): inverse quadratic interpolation where the last three points
    allow it, else bisection.

    Parameters
    ----------
    function : callable
        ``function(x, which)`` returns the values at x of the functions with these numbers.
    low, high : arrays of shape (n_functions,)
        Bounds. Each function is taken to be negative at the lower and positive at the upper one,
        and is not asked there.

    Returns
    -------
    array of shape (n_functions,)
    """
    root = 0.5 * (low + high)
    which = np.arange(len(root))
    # a is the newest point, b the one on the other side of the root, c the one before.
    a, b, c = high.copy(), low.copy(), low.copy()
    fa, fb, fc = np.full(len(root), np.inf), np.full(len(root), -np.inf), np.full(len(root), np.nan)
    share = np.full(len(root), 0.5)
    for _ in range(_MOST_STEPS):
        if not len(which):
            break
        x = a + share * (b - a)
        fx = function(x, which)
        same = np.signbit(fx) == np.signbit(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        root[which] = np.where(np.abs(fa) < np.abs(fb), a, b)
        width = np.abs(b - a)
        least = (2 * _EPS * np.abs(root[which]) + _TINY) / np.maximum(width, _TINY)
        going = (least < 0.5) & (fa != 0)
        which = which[going]
        a, b, c, fa, fb, fc, least = (v[going] for v in (a, b, c, fa, fb, fc, least))
        share = np.clip(_interpolated(a, b, c, fa, fb, fc), least, 1 - least)
    return root


def _interpolated(a: Floats, b: Floats, c: Floats, fa: Floats, fb: Floats, fc: Floats) -> Floats:
    """Share of the way from a to b where the parabola through three points has its root."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
        good = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        share = fa / (fb - fa) * fc / (fb - fc)
        share = share + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.where(good & np.isfinite(share), share, 0.5)


def newton_root(
    function: Callable[[Floats], tuple[Floats, Floats]],
    low: Floats,
    high: Floats,
    *,
    close: float = 4 * _EPS,
) -> Floats:
    """Find where functions cross zero from below, given their derivatives.

    Newton's method, and bisection where its step leaves the bounds or does not halve.

    Parameters
    ----------
    function : callable
        ``function(x)`` returns values and derivatives.
    low, high : arrays of shape (n_functions,)
        Bounds. Each function is taken to be negative at the lower and positive at the upper one.
    close : float
        Shares of x: a step that is no longer is the last, and is taken.

    Returns
    -------
    array of shape (n_functions,)
    """
    x = 0.5 * (low + high)
    last = high - low
    for _ in range(_MOST_STEPS):
        value, slope = function(x)
        low, high = np.where(value < 0, x, low), np.where(value > 0, x, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = value / slope
            good = (np.abs(step) <= 0.5 * last) & (x - step >= low) & (x - step <= high)
        near = close * np.abs(x)
        done = (np.abs(step) <= near) | (high - low <= near) | (value == 0)
        good |= done & (np.abs(step) <= near)
        step = np.where(good, step, x - 0.5 * (low + high))
        last = np.where(done, last, np.abs(step))
        x = np.where(done & ~good, x, x - step)
        if done.all():
            break
    return x


def brackets(values: Floats, rising: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Cells of a grid that hold the local minima which the grid shows.

    Parameters
    ----------
    values : array of shape (n_functions, n_points)
        Values of functions on a grid.
    rising : array of shape (n_functions, n_points)
        Whether each function rises at each point.

    Returns
    -------
    which : array of shape (n_brackets,)
        Number of the function.
    left : array of shape (n_brackets,)
        Point to the left of the minimum; it is no farther right than the next one.
    """
    beside = np.full((len(values), 1), np.inf)
    padded = np.concatenate([beside, values, beside], axis=1)
    lowest = (values <= padded[:, :-2]) & (values <= padded[:, 2:])
    which, point = np.nonzero(lowest)
    left = point - rising[which, point]
    return which, np.clip(left, 0, values.shape[1] - 2)


def first_lowest(which: Indices, value: Floats, number: int) -> Indices:
    """Place of the lowest value of each of so many functions.

    Parameters
    ----------
    which : array of shape (n_values,)
        Function that each value belongs to; each has at least one.
    value : array of shape (n_values,)
        The values.
    number : int
        Number of functions.

    Returns
    -------
    array of shape (number,)
    """
    order = np.lexsort((value, which))
    return np.asarray(order[np.searchsorted(which[order], np.arange(number))])
