"""More models of pairs: curves of the columns, and products of two numbers for each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
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
# By so much each square among the factors makes a product dearer.
_DEARER = 3.0
# Factors and products that vary less say nothing.
_SMALLEST = 1e-9
_NAMES = {False: "products", True: "curved products"}


class JudgedProducts(NamedTuple):
    """What the folds say about products: their penalty, and scores of held-out rows.

    Of each column they have the number itself, if `curved` its square too.
    """

    name: str
    curved: bool
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
) -> list[JudgedProducts]:
    """Choose the penalty of products by the folds; none where curves alone are as good.

    Where products are better, curved ones stand beside them.
    """
    rows = np.concatenate([test for _, test in folds])
    found = _judge(some, folds, curves, pairs_of_folds, tol, _PENALTIES, curves.states, False)
    if found is None:
        return []
    products, states = found
    before, after = (
        log_losses(each.scores[rows], some.labels[rows])
        for each in (curves.held_out, products.held_out)
    )
    weights = np.ones(len(rows)) if some.weights is None else some.weights[rows]
    if not pays(before - after, weights, _LEAST_GAIN * float(np.average(before, weights=weights))):
        return []
    # They say more than products do, and their search begins where that for products ended.
    penalties = _PENALTIES[_PENALTIES.index(products.penalty) :]
    found = _judge(some, folds, curves, pairs_of_folds, tol, penalties, states, True)
    return [products] if found is None else [products, found[0]]


def _judge(
    some: Inputs,
    folds: Folds,
    curves: ChosenMember,
    pairs_of_folds: Sequence[Sequence[Pair]],
    tol: float,
    penalties: Sequence[float],
    states: Sequence[Floats],
    curved: bool,
) -> tuple[JudgedProducts, list[Floats]] | None:
    """Return what the folds say, and their parameters; None where curves alone are as good.

    The curves keep their own penalty, and the searches begin at the states.
    """
    pairs = sorted({pair for own in pairs_of_folds for pair in own})
    products, _ = _products(some, pairs, {}, curved)
    if not products or curves.design is None:
        return None
    if curved and all(len(own) == 1 for own in products.values()):
        return None  # numbers of two values have no squares: it would be the same model again
    labels, n_classes = some.labels, some.n_classes
    mains = encode(curves.design.pieces, some)
    added, fitted, judged, now = [], [], [], []
    for (train, test), own, state in zip(folds, pairs_of_folds, states, strict=True):
        added.append(_in_order(products, own))
        blocks = [*mains, *encode(added[-1], some)]
        fitted.append((train, blocks))
        held_out = [block.take(test) for block in blocks]
        judged.append(kernel_rows(held_out, labels[test], None, n_classes))
        size = curves.design.size + len(added[-1]) + 1
        now.append(_with_products(state, size - len(state)))
    seen = OtherFolds(some, folds)
    seen.look([curves.held_out.scores[test] for _, test in folds])
    best = None
    for penalty in penalties:
        scores = []
        tolerance = fold_tolerance(tol, seen.lowest)
        for place, (_, test) in enumerate(folds):
            train, blocks = fitted[place]
            fit = Fit(_design(curves, added[place], penalty), blocks, some, train)
            now[place] = fit.solve(
                curves.penalty, now[place], tol=tolerance, max_iter=FOLD_STEPS
            ).parameters
            out = np.empty((len(test), some.n_outputs))
            judged[place].scores(now[place], out)
            scores.append(centred(out))
        seen.look(scores)
        if not seen.is_lowest:
            break
        best = penalty, list(now)
    if best is None:
        return None
    return JudgedProducts(_NAMES[curved], curved, best[0], seen.held_out), best[1]


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
    shared = {column.place: column for column in bins}
    products, coarse = _products(inputs, pairs, shared, judged.curved)
    added = _in_order(products, pairs)
    design = _design(curves, added, judged.penalty)
    fit = Fit(design, encode(design.pieces, inputs), inputs)
    start = None if curves.start is None else _with_products(curves.start, len(added))
    solution = fit.solve(curves.penalty, start, tol=tol, max_iter=max_iter)
    return ProductsOfPairs(design, coarse, solution)


def _with_products(parameters: Floats, n_products: int) -> Floats:
    """Return parameters of curves, and 0 for each product before the intercepts."""
    zeros = np.zeros((n_products, parameters.shape[1]))
    return np.concatenate([parameters[:-1], zeros, parameters[-1:]])


def _in_order(products: Mapping[Pair, Sequence[Product]], pairs: Sequence[Pair]) -> list[Product]:
    """Return the first product of each pair, then the second, and so on."""
    own = [products[pair] for pair in pairs if pair in products]
    return [product for turn in zip_longest(*own) for product in turn if product is not None]


def _design(curves: ChosenMember, products: Sequence[Product], penalty: float) -> Design:
    """Return curves and products; the penalty of the latter is not relative to the other."""
    assert curves.design is not None
    own = [
        replace(product, penalty=product.penalty * penalty / curves.penalty) for product in products
    ]
    return Design([*curves.design.pieces, *own])


def _products(
    inputs: Inputs, pairs: Sequence[Pair], bins: Mapping[int, Coarse], curved: bool
) -> tuple[dict[Pair, list[Product]], dict[int, Coarse]]:
    """Return the products of pairs of numbers, and the columns in bins."""
    coarse: dict[int, Coarse] = {}
    factors: dict[int, list[Floats]] = {}
    for place in sorted({place for pair in pairs for place in pair}):
        column = inputs.columns[place]
        if not isinstance(column, Numbers):
            continue
        own = coarse_numbers(column, TREE_BINS, bins.get(place))
        found = _factors(inputs, column, own, curved)
        if found:
            coarse[place], factors[place] = own, found
    out: dict[Pair, list[Product]] = {}
    for a, b in pairs:
        if a in factors and b in factors:
            codes = (coarse[a].codes, coarse[b].codes)
            both = [
                _product(inputs, (a, b), codes, (first, second), _DEARER ** (i + j))
                for i, first in enumerate(factors[a])
                for j, second in enumerate(factors[b])
            ]
            if both[0] is not None:
                out[a, b] = [product for product in both if product is not None]
    return out, coarse


def _product(
    inputs: Inputs,
    pair: Pair,
    codes: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    factors: tuple[Floats, Floats],
    penalty: float,
) -> Product | None:
    """Return a product with a deviation of 1; None if it is the same for all rows."""
    values = factors[0][codes[0]] * factors[1][codes[1]]
    mean = np.average(values, weights=inputs.weights)
    size = float(np.sqrt(np.average((values - mean) ** 2, weights=inputs.weights)))
    if size <= _SMALLEST:
        return None
    return Product(pair, np.outer(*factors) / size, values / size, penalty)


def _factors(inputs: Inputs, column: Numbers, coarse: Coarse, curved: bool) -> list[Floats]:
    """Return the mean standardized value of each bin, 0 for missing; none if it cannot be told.

    If `curved`, its square follows, less what is straight of it.
    """
    line = standard_line(column)
    if line is None:
        return []
    values = np.clip(line.encode(inputs.columns).values, -_END, _END)
    counts = np.bincount(coarse.codes, column.weights, minlength=coarse.size)
    w = values if column.weights is None else values * column.weights
    sums = np.bincount(coarse.codes, w, minlength=coarse.size)
    means = sums / np.where(counts > 0, counts, 1.0)
    means[0] = counts[0] = 0.0
    share = counts / counts.sum()
    apart = means - share @ means
    variance = float(share @ apart**2)
    if not curved or variance <= _SMALLEST:
        return [means]
    square = means**2 - share @ means**2
    square -= float(share @ (square * apart)) / variance * apart
    square[0] = 0.0
    deviation = float(np.sqrt(share @ square**2))
    return [means] if deviation <= _SMALLEST else [means, square / deviation]
