"""Problems of data that a model was learned from, or that it is to predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard import Scorecard, Term
from lessnaive.table import Column, Table
from lessnaive.table.schema import is_identifier
from lessnaive.validation.drift import CHANGED, Drift, measure_drift
from lessnaive.validation.measuring import training_shares, training_weight

__all__ = ["Problem", "find_problems"]

Floats = NDArray[np.float64]

# Shares of missing values that are worth a word, and by how much they may change.
_OFTEN_MISSING, _MISSING_CHANGED = 0.2, 0.1
# A column that leaves so little of the uncertainty about the class gives it away.
_LEFT = 0.1
# Columns are compared with each other in so many rows, and only the strongest ones.
_ROWS_COMPARED, _NUMBERS_COMPARED, _NAMES_COMPARED = 2000, 300, 100
# Numbers that are as good as the same up to their unit; values that go together in so many rows.
_CORRELATION, _TOGETHER = 0.999, 0.99
# Classes with fewer rows are hard to learn.
_FEW_ROWS = 20
_UNSEEN = 0.001


class Problem(NamedTuple):
    """Something to look at.

    Attributes
    ----------
    severity : {"high", "medium", "low"}
        How bad it may be.
    kind : str
        What it is.
    column : str
        The column, or columns.
    text : str
        What was found, and what to do.
    """

    severity: str
    kind: str
    column: str
    text: str


def find_problems(
    card: Scorecard,
    table: Table | None,
    weights: Floats | None,
    labels: NDArray[np.int64] | None,
) -> list[Problem]:
    """Return problems of the training rows, as far as counts tell, and of a table.

    Parameters
    ----------
    card : Scorecard
        The model.
    table : Table or None
        Rows, if there are any.
    weights : array of shape (n_rows,) or None
        Their weights.
    labels : array of shape (n_rows,) or None
        Places of their classes, -1 where the model does not know them.

    Returns
    -------
    list of Problem
        The worst first.
    """
    found = [*_leaks(card, table, labels, weights), *_identifiers(card, table)]
    if table is None:
        found += _missing_in_training(card)
    else:
        columns = card.schema.match(table, card.model)
        drifts = [
            drift
            for drift, term in zip(measure_drift(card, table, weights), card.terms, strict=True)
            if len(term.inputs) == 1
        ]
        # By chance alone the index is about as large as this, with 20 bins.
        chance = 20 / table.n_rows + 20 / max(training_weight(card) or 1.0, 1.0)
        found += [*_drift(drifts, CHANGED + chance), *_duplicates(card, columns)]
    found += _rare_classes(card)
    if labels is not None and (labels < 0).any():
        share = float((labels < 0).mean())
        text = f"{share:.1%} of the rows are of a class that the model does not know."
        found.append(Problem("high", "unknown class", "(target)", text))
    order = ["high", "medium", "low"]
    return sorted(found, key=lambda problem: order.index(problem.severity))


def _counts(term: Term) -> Floats | None:
    """Rows by code and class, of a term of one column that keeps them."""
    return term.counts_by_code() if len(term.inputs) == 1 else None


def _entropy(shares: Floats) -> float:
    known = shares[shares > 0]
    return float(-(known * np.log(known)).sum())


def _leaks(
    card: Scorecard,
    table: Table | None,
    labels: NDArray[np.int64] | None,
    weights: Floats | None,
) -> Iterator[Problem]:
    """Columns that alone give the class away."""
    prior = training_shares(card)
    whole = _entropy(prior)
    if whole == 0:
        return
    for place, term in enumerate(card.terms):
        counts = _counts(term)
        if counts is not None:
            # Half a row of each class is added, so that values of one row give nothing away.
            by_code = counts[counts.any(axis=1)] + 0.5 * prior
            total = by_code.sum(axis=1)
            each = [_entropy(own / own.sum()) for own in by_code]
            left = float(np.average(each, weights=total)) / whole if len(by_code) else 1.0
        elif table is not None and labels is not None and len(term.inputs) == 1:
            left = _loss_alone(card, place, table, labels, weights) / whole
        else:
            continue
        if left <= _LEFT:
            text = (
                f"Alone it leaves {max(left, 0.0):.0%} of the uncertainty about the class. Was it "
                "known before the class was? If it is a result of it, leave it out."
            )
            yield Problem("high", "gives the class away", term.name, text)


def _loss_alone(
    card: Scorecard,
    place: int,
    table: Table,
    labels: NDArray[np.int64],
    weights: Floats | None,
) -> float:
    known = labels >= 0
    if not known.any():
        return np.inf
    log_probability = card.part([place]).log_probability(table)[known]
    own = log_probability[np.arange(known.sum()), labels[known]]
    return float(
        np.average(-np.maximum(own, -36.0), weights=None if weights is None else weights[known])
    )


def _identifiers(card: Scorecard, table: Table | None) -> Iterator[Problem]:
    text = (
        "Nearly all of its values are different, as in a number or name of the row: it says "
        "nothing about new rows. Leave it out."
    )
    if table is None:
        for term in card.terms:
            counts = _counts(term)
            categorical = len(term.inputs) == 1 and card.schema.categorical[term.inputs[0]]
            if counts is not None and categorical:
                rows = counts[1:].sum()
                if rows >= 50 and (counts[1:].sum(axis=1) > 0).sum() >= 0.9 * rows:
                    yield Problem("high", "identifier", term.name, text)
        return
    columns = card.schema.match(table, card.model)
    for column, categorical in zip(columns, card.schema.categorical, strict=True):
        if is_identifier(column, categorical=categorical):
            yield Problem("high", "identifier", column.name, text)


def _missing_in_training(card: Scorecard) -> Iterator[Problem]:
    for term in card.terms:
        if len(term.inputs) > 1 or term.counts is None or not term.counts.any():
            continue
        share = float(term.counts[0].sum() / term.counts.sum())
        if share >= _OFTEN_MISSING:
            yield _often_missing(term.name, share, "training rows")


def _often_missing(name: str, share: float, rows: str) -> Problem:
    severity = "medium" if share >= 0.5 else "low"
    text = f"Missing in {share:.1%} of the {rows}. Where it is missing, it says nothing."
    return Problem(severity, "missing values", name, text)


def _drift(drifts: Sequence[Drift], most: float) -> Iterator[Problem]:
    for drift in drifts:
        if abs(drift.missing - drift.missing_before) > _MISSING_CHANGED:
            text = (
                f"Missing in {drift.missing_before:.1%} of the training rows, and in "
                f"{drift.missing:.1%} of the rows of the table."
            )
            yield Problem("high", "missing values have changed", drift.name, text)
        elif drift.missing >= _OFTEN_MISSING:
            yield _often_missing(drift.name, drift.missing, "rows")
        if drift.unseen >= _UNSEEN:
            text = (
                f"{drift.unseen:.1%} of the rows have a value that no training row had: it adds "
                "nothing to the scores."
            )
            severity = "high" if drift.unseen > 0.1 else "medium"
            yield Problem(severity, "unseen values", drift.name, text)
        if drift.stability is not None and drift.stability > most:
            text = (
                f"Its values have changed since training: population stability index "
                f"{drift.stability:.2f}, where above {most:.2f} is a clear change."
            )
            yield Problem("high", "drift", drift.name, text)


def _duplicates(card: Scorecard, columns: Sequence[Column]) -> Iterator[Problem]:
    """Pairs of columns that say the same, among the strongest."""
    n_rows = len(columns[0])
    rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _ROWS_COMPARED)).astype(np.intp))
    order = np.argsort(-np.nan_to_num(card.column_importance()), kind="stable").tolist()
    categorical = card.schema.categorical
    used = {place for term in card.terms for place in term.inputs}
    order = [place for place in order if place in used]
    numbers = [place for place in order if not categorical[place]][:_NUMBERS_COMPARED]
    names = [place for place in order if categorical[place]][:_NAMES_COMPARED]
    for pair in [*_same_numbers(columns, numbers, rows), *_same_names(columns, names, rows)]:
        first, second = (card.schema.names[place] for place in pair)
        text = "They say nearly the same: what they say is counted twice where a model is naive."
        yield Problem("medium", "near-duplicates", f"{first} and {second}", text)


def _same_numbers(
    columns: Sequence[Column], places: list[int], rows: NDArray[np.intp]
) -> Iterator[tuple[int, int]]:
    standard, kept = [], []
    for place in places:
        values = np.asarray(columns[place].numbers(), dtype=np.float64)[rows]
        there = ~np.isnan(values)
        spread = values[there].std() if there.sum() > 2 else 0.0
        if spread > 0 and np.isfinite(spread):
            centred = np.where(there, (values - values[there].mean()) / spread, 0.0)
            standard.append(centred / np.sqrt((centred**2).sum()))
            kept.append(place)
    if len(kept) < 2:
        return
    matrix = np.abs(np.array(standard) @ np.array(standard).T)
    for i, j in np.argwhere(np.triu(matrix, 1) >= _CORRELATION).tolist():
        yield kept[i], kept[j]


def _same_names(
    columns: Sequence[Column], places: list[int], rows: NDArray[np.intp]
) -> Iterator[tuple[int, int]]:
    codes = {}
    for place in places:
        coded = columns[place].coded()
        own = coded.codes[rows].astype(np.int64) + coded.shift
        found = np.unique(own[own > 0])
        if 1 < len(found) < 0.5 * len(rows):
            codes[place] = own
    kept = list(codes)
    for i, first in enumerate(kept):
        for second in kept[i + 1 :]:
            if _go_together(codes[first], codes[second]):
                yield first, second


def _go_together(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Whether the value of one column tells that of the other, both ways, in nearly all rows."""
    there = (first > 0) & (second > 0)
    if there.sum() < 0.5 * len(first):
        return False
    a = np.unique(first[there], return_inverse=True)[1]
    b = np.unique(second[there], return_inverse=True)[1]
    if not 0.5 < (a.max() + 1) / (b.max() + 1) < 2:
        return False
    table = np.bincount(a * (b.max() + 1) + b).astype(np.int64)
    table = np.pad(table, (0, (a.max() + 1) * (b.max() + 1) - len(table)))
    table = table.reshape(a.max() + 1, b.max() + 1)
    usual = max(table.max(axis=0).sum() / len(b), np.bincount(a).max() / len(a))
    both = min(table.max(axis=0).sum(), table.max(axis=1).sum()) / len(a)
    # A column of nearly one value goes together with all others.
    return bool(both >= _TOGETHER and usual > np.bincount(a).max() / len(a))


def _rare_classes(card: Scorecard) -> Iterator[Problem]:
    for term in card.terms:
        if term.counts is None or not term.counts.any():
            continue
        sizes = term.counts.reshape(-1, len(card.classes)).sum(axis=0)
        for label, size in zip(card.classes.tolist(), sizes.tolist(), strict=True):
            if size < _FEW_ROWS:
                text = f"{size:,.6g} training rows are of it: what is said of it rests on few rows."
                yield Problem("medium", "rare class", str(label), text)
        return
