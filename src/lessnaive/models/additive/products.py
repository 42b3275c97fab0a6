"""A third model of pairs: curves of the columns, and the product of two numbers for each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.basis import Product
from lessnaive.models.additive.coarse import Coarse, coarse_numbers
from lessnaive.models.additive.columns import Inputs, Numbers
from lessnaive.models.additive.design import Design, Fit, Solution, encode, kernel_rows
from lessnaive.models.additive.members import standard_line
from lessnaive.models.additive.pair_choice import Pair
from lessnaive.models.additive.pair_models import TREE_BINS
from lessnaive.models.additive.path import (
    FOLD_STEPS,
    ChosenMember,
    Folds,
    HeldOut,
    OtherFolds,
    fold_tolerance,
)
from lessnaive.models.additive.scores import centred, log_losses
from lessnaive.models.additive.stacking import pays

__all__ = ["JudgedProducts", "ProductsOfPairs", "fit_products", "judge_products"]

Floats = NDArray[np.float64]

# What the square of the parameter of a product may cost, in the order of trying.
_PENALTIES = (30.0, 3.0, 0.3, 0.03)
# Products must lower the loss of held-out rows by this share of that of the curves alone, and by
# more than its standard error.
_LEAST_GAIN = 0.01
# Standard deviations at which the factors end.
_END = 3.0


class JudgedProducts(NamedTuple):
    """What the folds say about products: their penalty, and scores of held-out rows."""

    penalty: float
    held_out: HeldOut


@dataclass(frozen=True)
class ProductsOfPairs:
    """Curves of the columns and products of pairs, fitted together."""

    design: Design
    coarse: Mapping[int, Coarse]
    solution: Solution


def judge_products(
    some: Inputs,
    folds: Folds,
    curves: ChosenMember,
    pairs_of_folds: Sequence[Sequence[Pair]],
    tol: float,
) -> JudgedProducts | None:
    """Choose the penalty of products by the folds; None where curves alone are as good.

    The curves keep their own penalty, and a search begins where that for the curves alone ended.
    """
    pairs = sorted({pair for own in pairs_of_folds for pair in own})
    products, _ = _products(some, pairs, {})
    if not products or curves.design is None:
        return None
    labels, n_classes = some.labels, some.n_classes
    mains = encode(curves.design.pieces, some)
    added, fitted, judged, states = [], [], [], []
    for (train, test), own, state in zip(folds, pairs_of_folds, curves.states, strict=True):
        added.append([products[pair] for pair in own if pair in products])
        blocks = [*mains, *encode(added[-1], some)]
        fitted.append((train, blocks))
        held_out = [block.take(test) for block in blocks]
        judged.append(kernel_rows(held_out, labels[test], None, n_classes))
        states.append(_with_products(state, len(added[-1])))
    seen = OtherFolds(some, folds)
    seen.look([curves.held_out.scores[test] for _, test in folds])
    alone, best = seen.loss, None
    for penalty in _PENALTIES:
        scores = []
        tolerance = fold_tolerance(tol, seen.lowest)
        for place, (_, test) in enumerate(folds):
            train, blocks = fitted[place]
            fit = Fit(_design(curves, added[place], penalty), blocks, some, train)
            states[place] = fit.solve(
                curves.penalty, states[place], tol=tolerance, max_iter=FOLD_STEPS
            ).parameters
            out = np.empty((len(test), some.n_outputs))
            judged[place].scores(states[place], out)
            scores.append(centred(out))
        seen.look(scores)
        if not seen.is_lowest:
            break
        best = penalty
    if best is None:
        return None
    rows = np.concatenate([test for _, test in folds])
    before, after = (
        log_losses(each.scores[rows], labels[rows]) for each in (curves.held_out, seen.held_out)
    )
    weights = np.ones(len(rows)) if some.weights is None else some.weights[rows]
    gains = before - after
    return (
        JudgedProducts(best, seen.held_out) if pays(gains, weights, _LEAST_GAIN * alone) else None
    )


def fit_products(
    inputs: Inputs,
    curves: ChosenMember,
    pairs: Sequence[Pair],
    judged: JudgedProducts,
    bins: Sequence[Coarse],
    *,
    tol: float,
    max_iter: int,
) -> ProductsOfPairs:
    """Fit curves and products to all rows; `bins` are columns whose bins the factors share."""
    products, coarse = _products(inputs, pairs, {column.place: column for column in bins})
    design = _design(curves, list(products.values()), judged.penalty)
    fit = Fit(design, encode(design.pieces, inputs), inputs)
    start = None if curves.start is None else _with_products(curves.start, len(products))
    solution = fit.solve(curves.penalty, start, tol=tol, max_iter=max_iter)
    return ProductsOfPairs(design, coarse, solution)


def _with_products(parameters: Floats, n_products: int) -> Floats:
    """Return parameters of curves, and 0 for each product before the intercepts."""
    zeros = np.zeros((n_products, parameters.shape[1]))
    return np.concatenate([parameters[:-1], zeros, parameters[-1:]])


def _design(curves: ChosenMember, products: Sequence[Product], penalty: float) -> Design:
    """Return curves and products; the penalty of the latter is not relative to the other."""
    assert curves.design is not None
    own = [replace(product, penalty=penalty / curves.penalty) for product in products]
    return Design([*curves.design.pieces, *own])


def _products(
    inputs: Inputs, pairs: Sequence[Pair], bins: Mapping[int, Coarse]
) -> tuple[dict[Pair, Product], dict[int, Coarse]]:
    """Return the products of pairs of numbers, and the columns in bins."""
    coarse: dict[int, Coarse] = {}
    factors: dict[int, Floats] = {}
    for place in sorted({place for pair in pairs for place in pair}):
        column = inputs.columns[place]
        if not isinstance(column, Numbers):
            continue
        own = coarse_numbers(column, TREE_BINS, bins.get(place))
        factor = _factor(inputs, column, own)
        if factor is not None:
            coarse[place], factors[place] = own, factor
    out: dict[Pair, Product] = {}
    for a, b in pairs:
        if a in factors and b in factors:
            values = factors[a][coarse[a].codes] * factors[b][coarse[b].codes]
            mean = np.average(values, weights=inputs.weights)
            size = float(np.sqrt(np.average((values - mean) ** 2, weights=inputs.weights)))
            if size > 1e-9:
                table = np.outer(factors[a], factors[b]) / size
                out[a, b] = Product((a, b), table, values / size)
    return out, coarse


def _factor(inputs: Inputs, column: Numbers, coarse: Coarse) -> Floats | None:
    """Return the mean standardized value of each bin, 0 for missing; None if it cannot be told."""
    line = standard_line(column)
    if line is None:
        return None
    values = np.clip(line.encode(inputs.columns).values, -_END, _END)
    counts = np.bincount(coarse.codes, column.weights, minlength=coarse.size)
    w = values if column.weights is None else values * column.weights
    sums = np.bincount(coarse.codes, w, minlength=coarse.size)
    means = sums / np.where(counts > 0, counts, 1.0)
    means[0] = 0.0
    return np.asarray(means)
