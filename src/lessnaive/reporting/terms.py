"""The terms of a scorecard as plain data for pictures, and a typical row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lessnaive.reporting.numbers import places, short
from lessnaive.scorecard import Scorecard, Term
from lessnaive.scorecard.terms.drawing import Bars, Curve, HeatMap
from lessnaive.scorecard.terms.encodings import Groups, Values
from lessnaive.table import Column, Kind

__all__ = ["describe_terms", "typical_row"]

# Rows and columns of a heat map that can be told apart; more are put together.
_MOST_CELLS = 32


def describe_terms(card: Scorecard) -> list[dict[str, Any]]:
    """Return all terms, the strongest first.

    Parameters
    ----------
    card : Scorecard
        The scorecard.

    Returns
    -------
    list of dict
        Plain data: name, columns, importance, and what the term looks like.
    """
    importance = np.nan_to_num(card.importance)
    order = np.argsort(-importance, kind="stable").tolist()
    kinds, names = card.schema.kinds, card.schema.names
    return [
        {
            "name": card.terms[j].name,
            "place": j,
            "columns": [names[i] for i in card.terms[j].inputs],
            "time": str(kinds[card.terms[j].inputs[0]])
            if kinds[card.terms[j].inputs[0]].is_time
            else None,
            "importance": short(importance[j]),
            "drawing": _plain(card, j),
        }
        for j in order
    ]


def _plain(card: Scorecard, j: int) -> dict[str, Any]:
    drawn = card.drawing(j)
    widths = drawn.half_widths()
    band = None if widths is None else places(widths)
    match drawn:
        case Bars():
            return {
                "type": "bars",
                "labels": drawn.labels,
                "scores": places(drawn.scores),
                "band": band,
                "rows": None if drawn.counts is None else short(drawn.counts.sum(axis=1)),
            }
        case Curve():
            return {
                "type": "curve",
                "x": short(drawn.x, 9),
                "scores": places(drawn.scores),
                "band": band,
                "edges": short(drawn.edges, 9),
                "rows": None if drawn.counts is None else short(drawn.counts.sum(axis=1)),
                "missing": None if drawn.missing is None else places(drawn.missing),
                "missing_rows": short(drawn.missing_counts.sum()),
            }
        case HeatMap():
            small = _coarse(_coarse(drawn, 0), 1)
            return {
                "type": "heat",
                "labels": small.labels,
                "other_labels": small.other_labels,
                "scores": places(small.scores),
                "rows": None if small.counts is None else short(small.counts.sum(axis=2)),
            }


def _coarse(drawn: HeatMap, axis: int) -> HeatMap:
    """Put neighbouring values of one column together where there are too many to see."""
    labels = drawn.other_labels if axis else drawn.labels
    if len(labels) <= _MOST_CELLS:
        return drawn
    parts = np.array_split(np.arange(len(labels)), _MOST_CELLS)
    names = [_joined(labels[part[0]], labels[part[-1]]) for part in parts]
    counts = np.ones(drawn.scores.shape) if drawn.counts is None else drawn.counts
    weight = counts.sum(axis=2, keepdims=True) + 1e-9
    finite = np.nan_to_num(drawn.scores, neginf=-1e6)
    scores, rows = [], []
    for part in parts:
        some, own = np.take(finite, part, axis), np.take(weight, part, axis)
        scores.append((some * own).sum(axis=axis) / own.sum(axis=axis))
        rows.append(np.take(counts, part, axis).sum(axis=axis))
    return drawn._replace(
        **{"other_labels" if axis else "labels": names},
        scores=np.stack(scores, axis),
        counts=None if drawn.counts is None else np.stack(rows, axis),
    )


def _joined(first: str, last: str) -> str:
    return first if first == last else f"{first} … {last}"


def typical_row(card: Scorecard, columns: Sequence[Column] | None) -> dict[str, Any]:
    """Return a value for each column that is in use: the median, or the most frequent one.

    Parameters
    ----------
    card : Scorecard
        The scorecard.
    columns : sequence of Column or None
        The columns of a table, in the order of the schema; without them counts of the training
        rows say what is frequent.

    Returns
    -------
    dict
        Plain data, by the name of the column; None where nothing is known. The values are those of
        no single row.
    """
    out: dict[str, Any] = {}
    for term in card.terms:
        for place in term.inputs:
            name = card.schema.names[place]
            if out.get(name) is not None:
                continue
            value = None
            if columns is not None:
                value = _most_typical(columns[place], categorical=card.schema.categorical[place])
            elif len(term.inputs) == 1:
                value = _counted(term, card)
            is_flag = card.schema.kinds[place] is Kind.BOOLEAN and value is not None
            out[name] = bool(value) if is_flag else value
    return out


def _most_typical(column: Column, *, categorical: bool) -> Any:
    """Return the median of numbers, which is one of them, or the most frequent name."""
    if not categorical:
        values = np.asarray(column.numbers(), dtype=np.float64)
        there = values[np.isfinite(values)]
        return float(np.quantile(there, 0.5, method="inverted_cdf")) if len(there) else None
    coded = column.coded()
    counts = np.bincount(coded.codes.astype(np.int64) + coded.shift, minlength=2)[1:]
    if not counts.any():
        return None
    level = coded.levels[int(counts.argmax())]
    return level.item() if isinstance(level, np.generic) else level


def _counted(term: Term, card: Scorecard) -> Any:
    """Return what the counts of a term say is frequent: a value, or the middle of the rows."""
    encoding, counts = term.codes(), term.counts_by_code()
    n_codes = encoding.n_codes
    rows = np.ones(n_codes) if counts is None else counts[1 : 1 + n_codes].sum(axis=1)
    if isinstance(encoding, Values):
        code = int(rows.argmax())
        return encoding.groups[code][0] if isinstance(encoding, Groups) else encoding.levels[code]
    edges = np.asarray(getattr(encoding, "edges", ()), dtype=np.float64)
    if len(edges):
        until = np.cumsum(rows[: len(edges) + 1])  # values that are kept apart come after these
        k = int(np.searchsorted(until, 0.5 * until[-1]))
        # The first and the last interval have one end only.
        left, right = edges[max(k - 1, 0)], edges[min(k, len(edges) - 1)]
        return _short(0.5 * left + 0.5 * right)
    drawn = term.drawing(card.schema.kinds)
    return _short(0.5 * drawn.x[0] + 0.5 * drawn.x[-1]) if isinstance(drawn, Curve) else None


def _short(value: float) -> float:
    return float(f"{value:.4g}")
