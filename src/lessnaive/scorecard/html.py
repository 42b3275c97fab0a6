"""A scorecard in a notebook: a compact table with small bars, in plain HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard.terms.drawing import Bars, bars_of_rows, relative

__all__ = ["scorecard_html"]

Floats = NDArray[np.float64]

_MOST_TERMS, _MOST_VALUES, _MOST_CLASSES = 12, 12, 8
_LONGEST = 60
# Half the width of a bar of scores, and the width of one of importances, in pixels.
_HALF, _WIDTH = 36, 140
_FOR, _AGAINST = "#4393c3", "#d6604d"
# Colours by which a page tells light from dark are its own: text is as it is around.
_TABLE = "border-collapse:collapse;font-size:12px;margin:4px 0 8px 14px"
_CELL = "padding:1px 8px;text-align:left;white-space:nowrap;border:none;background:none"


def scorecard_html(card: Any) -> str:
    """Return a scorecard as HTML: the strongest terms, with what their values add.

    Parameters
    ----------
    card : Scorecard
        The scorecard.

    Returns
    -------
    str
        HTML without scripts. All names and values are escaped.
    """
    return "".join(_parts(card))


def _parts(card: Any) -> Iterator[str]:
    importance = np.nan_to_num(card.importance)
    order = np.argsort(-importance, kind="stable")[:_MOST_TERMS]
    most = float(importance.max(initial=0.0)) or 1.0
    classes = [_text(label) for label in card.classes.tolist()[:_MOST_CLASSES]]
    yield (
        '<div class="lessnaive-scorecard" style="font-family:sans-serif;font-size:13px;'
        f'max-width:60em;overflow-x:auto"><div style="margin:4px 0"><b>{_text(card.model)}</b>: '
        f"{len(card.classes)} classes, {len(card.terms)} terms, the strongest first. "
        "Open one to see what its values add.</div>"
    )
    for place in order.tolist():
        width = round(_WIDTH * importance[place] / most)
        yield (
            '<details><summary style="cursor:pointer">'
            f'<span style="display:inline-block;min-width:16em">{_text(card.terms[place].name)}'
            f'</span><span style="display:inline-block;height:9px;width:{width}px;'
            f'background:#888"></span> {importance[place]:.3f}</summary>'
        )
        yield from _table(_bars(card, place), classes)
        yield "</details>"
    if len(card.terms) > len(order):
        yield f"<div>and {len(card.terms) - len(order)} weaker terms</div>"
    yield "</div>"


def _bars(card: Any, place: int) -> Bars:
    """Return the lines of a term that say most, as bars."""
    term = card.terms[place]
    bars = bars_of_rows(list(term.rows(card.schema.kinds)))
    bars = bars.map_scores(_relative_or_nan, card.averages[place].mean)
    if bars.counts is None:
        return bars
    weight = bars.counts.sum(axis=1) * np.abs(np.nan_to_num(bars.scores)).sum(axis=1)
    kept = np.sort(np.argsort(-weight, kind="stable")[:_MOST_VALUES])
    return Bars(
        [bars.labels[j] for j in kept],
        bars.scores[kept],
        bars.counts[kept],
        bars.is_difference[kept],
    )


def _relative_or_nan(scores: Floats) -> Floats:
    """Return relative scores; those of lines that are about one class alone stay as they are."""
    alone = np.isnan(scores).any(axis=-1, keepdims=True)
    return np.where(alone, scores, relative(np.nan_to_num(scores, neginf=-np.inf)))


def _table(bars: Bars, classes: Sequence[str]) -> Iterator[str]:
    finite = np.where(np.isfinite(bars.scores), bars.scores, 0.0)
    most = float(np.abs(finite).max(initial=0.0)) or 1.0
    head = "".join(f'<th style="{_CELL}">{name}</th>' for name in ["value", "rows", *classes])
    yield f'<table style="{_TABLE}"><tr>{head}</tr>'
    for j, label in enumerate(bars.labels):
        rows = "" if bars.counts is None else f"{bars.counts[j].sum():,.6g}"
        cells = "".join(
            f'<td style="{_CELL}">{_bar(score, most)}</td>'
            for score in bars.scores[j, : len(classes)].tolist()
        )
        first = "".join(f'<td style="{_CELL}">{text}</td>' for text in (_text(label), rows))
        yield f"<tr>{first}{cells}</tr>"
    yield "</table>"


def _bar(score: float, most: float) -> str:
    """Return a number with a bar that goes to the right from the middle, or to the left."""
    if np.isnan(score):
        return ""
    width = round(_HALF * min(abs(score) / most, 1.0))
    left = _HALF if score >= 0 else _HALF - width
    colour = _FOR if score >= 0 else _AGAINST
    return (
        f'<span style="display:inline-block;width:{2 * _HALF}px;height:9px">'
        f'<span style="display:block;height:9px;margin-left:{left}px;width:{width}px;'
        f'background:{colour}"></span></span> {score:+.2f}'
    )


def _text(value: object) -> str:
    shown = str(value)
    return escape(shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…")
