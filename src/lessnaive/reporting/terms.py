"""The terms of a scorecard as plain data for pictures, and a typical row."""

from __future__ import annotations

from typing import Any

import numpy as np

from lessnaive.reporting.numbers import places, short
from lessnaive.scorecard import Scorecard, Term
from lessnaive.scorecard.terms.drawing import Bars, Curve, HeatMap
from lessnaive.scorecard.terms.encodings import Groups, Intervals, Values

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


def typical_row(card: Scorecard) -> dict[str, Any]:
    """Return a value for each column that is in use: a frequent one, or the middle of a curve.

    No row of a table is looked at, so that none is shown.
    """
    out: dict[str, Any] = {}
    kinds = card.schema.kinds
    for term in card.terms:
        name = card.schema.names[term.inputs[0]]
        if len(term.inputs) == 1 and out.get(name) is None:
            out[name] = _typical(term, card)
    whole = {name: card.schema.names.index(name) for name in out}
    return {
        name: bool(value) if str(kinds[whole[name]]) == "boolean" and value is not None else value
        for name, value in out.items()
    }


def _typical(term: Term, card: Scorecard) -> Any:
    encoding = term.codes()
    counts = np.asarray(getattr(term, "counts", np.empty(0)))
    if counts.ndim == 2 and len(counts) > encoding.n_codes > 1:
        code = int(counts[1 : 1 + encoding.n_codes].sum(axis=1).argmax())
        if isinstance(encoding, Groups):
            return encoding.groups[code][0]
        if isinstance(encoding, Values):
            return encoding.levels[code]
    drawn = term.drawing(card.schema.kinds)
    if isinstance(drawn, Curve):
        return _middle(drawn)
    if isinstance(encoding, Intervals) and len(encoding.edges):
        return float(encoding.edges[len(encoding.edges) // 2])
    if isinstance(encoding, Values) and encoding.levels:
        return encoding.levels[0]
    return None


def _middle(drawn: Curve) -> float:
    """Return the median of the rows, by their intervals, or the middle of the picture."""
    low, high = float(drawn.x[0]), float(drawn.x[-1])
    if drawn.counts is None or not drawn.counts.any():
        return float(f"{0.5 * low + 0.5 * high:.4g}")
    until = np.cumsum(drawn.counts.sum(axis=1))
    k = int(np.searchsorted(until, 0.5 * until[-1]))
    ends = np.concatenate([[low], drawn.edges, [high]])
    left, right = max(float(ends[k]), low), min(float(ends[k + 1]), high)
    return float(f"{0.5 * left + 0.5 * right:.4g}")
