"""An independent way to the minimum of weighted evidence: a primal-dual interior point method.

minimize loss(w) + l1 sum |w - t| + l2 sum (w - t)^2, where w - t = a - b with a, b >= 0, so that
all of it is smooth. Works on dense arrays with exact second derivatives; needs l1 > 0 or l2 > 0.
"""

from __future__ import annotations

import numpy as np

from dense_evidence import DenseEvidence


def objective(dense: DenseEvidence, w: np.ndarray, l1: float, l2: float, target: float) -> float:
    away = w - target
    return dense.loss(w) + l1 * float(np.abs(away).sum()) + l2 * float((away**2).sum())


def reference_weights(
    dense: DenseEvidence, l1: float, l2: float, target: float = 0.0, *, shared: bool = False
) -> np.ndarray:
    """Weights (classes, columns), or (columns,) if shared, whose objective is the minimum."""
    k, m = dense.n_classes, dense.n_columns
    # All weights as a linear function of the free ones: shared weights are tied weights.
    spread = np.tile(np.eye(m), (k, 1)) if shared else np.eye(k * m)
    size = spread.shape[1]

    def smooth(free: np.ndarray) -> tuple[float, np.ndarray]:
        w = (spread @ free).reshape(k, m)
        away = free - target
        value = dense.loss(w) + l2 * float(away @ away)
        return value, spread.T @ dense.gradient(w).ravel() + 2 * l2 * away

    def curvature(free: np.ndarray) -> np.ndarray:
        w = (spread @ free).reshape(k, m)
        return spread.T @ dense.hessian(w) @ spread + 2 * l2 * np.eye(size)

    free = _newton(smooth, curvature, size) if l1 == 0 else None
    if free is None:
        free = _interior(smooth, curvature, size, l1, target)
    return free if shared else free.reshape(k, m)


def _newton(smooth, curvature, size):
    free = np.ones(size)
    for _ in range(200):
        value, slope = smooth(free)
        if np.abs(slope).max() <= 1e-9 * (1 + value):
            break
        move = -np.linalg.solve(curvature(free), slope)
        step = 1.0
        while smooth(free + step * move)[0] > value + 1e-4 * step * slope @ move and step > 1e-9:
            step /= 2
        if step <= 1e-9:
            break  # rounding
        free = free + step * move
    return free


def _interior(smooth, curvature, size, l1, target):
    a, b = np.ones(size), np.ones(size)
    za, zb = np.full(size, l1), np.full(size, l1)
    for _ in range(100):
        value, slope = smooth(target + a - b)
        gap = a @ za + b @ zb
        ra, rb = slope + l1 - za, -slope + l1 - zb
        if gap <= 1e-11 * value and max(np.abs(ra).max(), np.abs(rb).max()) <= 1e-7 * l1:
            break
        mu = 0.15 * gap / (2 * size)
        da, db = za / a, zb / b
        left, right = (-ra + mu / a - za) / da, (-rb + mu / b - zb) / db
        each = 1 / (1 / da + 1 / db)
        hessian = curvature(target + a - b)
        move = np.linalg.solve(np.diag(each) + hessian, each * (left - right))
        push = hessian @ move
        step_a, step_b = left - push / da, right + push / db
        step_za, step_zb = mu / a - za - da * step_a, mu / b - zb - db * step_b
        length = 1.0
        for at, step in ((a, step_a), (b, step_b), (za, step_za), (zb, step_zb)):
            falls = step < 0
            length = min(length, 0.99 * np.min(-at[falls] / step[falls], initial=1 / 0.99))
        now = np.linalg.norm(np.concatenate([ra, rb, a * za - mu, b * zb - mu]))
        while length > 1e-10:
            new = [a + length * step_a, b + length * step_b]
            new += [za + length * step_za, zb + length * step_zb]
            ahead = smooth(target + new[0] - new[1])[1]
            errors = [ahead + l1 - new[2], -ahead + l1 - new[3]]
            errors += [new[0] * new[2] - mu, new[1] * new[3] - mu]
            if np.linalg.norm(np.concatenate(errors)) <= (1 - 0.01 * length) * now:
                break
            length /= 2
        else:
            break  # rounding
        a, b, za, zb = new
    return target + a - b
