"""Probabilities of single rows in plain Python: this file becomes a part of standalone programs.

It needs nothing but the standard library of Python 3.10 or newer, and must stay so.
"""

from __future__ import annotations

import csv
import datetime
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TextIO

__all__ = ["Scorer", "score_csv"]

# Cells of CSV that mean a missing value, and how true and false are written there.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
TRUE, FALSE = ("1", "True", "TRUE", "true"), ("0", "False", "FALSE", "false")

# Numbers that are farther away are cut off here, so that scores stay finite.
_FARTHEST, _LARGEST = 1e200, 1.7976931348623157e308
_START = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


class Scorer:
    """The probabilities and contributions of single rows.

    Parameters
    ----------
    model : dict
        The formulas of a model, as plain data.
    """

    def __init__(self, model: dict[str, Any]) -> None:
        self.classes: list[Any] = model["classes"]
        self.columns = [(c["name"], c["kind"], c["used"]) for c in model["columns"]]
        self._members = [_Member(member) for member in model["members"]]

    def predict_proba(self, row: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class; None in a row is missing."""
        return dict(zip(self.classes, self._probabilities(self._values(row)), strict=True))

    def predict(self, row: Mapping[str, Any]) -> Any:
        """Return the most probable class; the first one where several tie."""
        values = self._values(row)
        if len(self._members) == 1:
            scores = self._members[0].scores(values)
        else:
            scores = self._probabilities(values)
        return self.classes[scores.index(max(scores))]

    def explain(self, row: Mapping[str, Any]) -> list[tuple[str, dict[Any, float]]]:
        """Return what each term adds to the scores, relative to the average training row.

        The first one, "(base)", holds the scores of that row; the sum over all of them are the
        scores of the row.
        """
        if len(self._members) > 1:
            raise ValueError("An average of several scorecards is no sum over columns.")
        parts = self._members[0].parts(self._values(row))
        return [(name, dict(zip(self.classes, scores, strict=True))) for name, scores in parts]

    def _probabilities(self, values: Sequence[Any]) -> list[float]:
        out = [0.0] * len(self.classes)
        for member in self._members:
            scores = member.scores(values)
            highest = max(scores)
            odds = [math.exp(score - highest) for score in scores]
            total = sum(odds)
            out = [p + member.weight * (odd / total) for p, odd in zip(out, odds, strict=True)]
        return out

    def _values(self, row: Mapping[str, Any]) -> list[Any]:
        return [self._value(row, *column) if column[2] else None for column in self.columns]

    @staticmethod
    def _value(row: Mapping[str, Any], name: str, kind: str, _: bool) -> Any:
        if name not in row:
            raise KeyError(f"the row has no {name!r}: give None where it is missing")
        value = row[name]
        if value is None or value != value:
            return None
        try:
            return _READERS[kind](value)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"Column {name!r} holds {value!r}: {error}") from None


class _Member:
    """A scorecard with its weight."""

    def __init__(self, member: dict[str, Any]) -> None:
        self.weight: float = member["weight"]
        self._intercept: list[float] = member["intercept"]
        terms = [(term, _FORMS[term["form"]](term)) for term in member["terms"]]
        self._named = [(term["name"], term["mean"], find) for term, find in terms]
        # In the order in which lessnaive adds, so that ties are ties here too.
        terms.sort(key=lambda own: own[0]["order"])
        self._first = [find for term, find in terms if term["order"] < 3]
        self._second = [find for term, find in terms if term["order"] == 3]

    def scores(self, values: Sequence[Any]) -> list[float]:
        sums = self._intercept, [0.0] * len(self._intercept)
        first, second = (
            _total(start, [find(values) for find in finders])
            for start, finders in zip(sums, (self._first, self._second), strict=True)
        )
        return [a + b for a, b in zip(first, second, strict=True)]

    def parts(self, values: Sequence[Any]) -> list[tuple[str, list[float]]]:
        base = _total(self._intercept, [mean for _, mean, _ in self._named])
        parts = [("(base)", base)]
        for name, mean, find in self._named:
            parts.append((name, [score - m for score, m in zip(find(values), mean, strict=True)]))
        return parts


def _total(start: Sequence[float], parts: Iterable[Sequence[float]]) -> list[float]:
    out = list(start)
    for part in parts:
        out = [a + b for a, b in zip(out, part, strict=True)]
    return out


_Finder = Callable[[Sequence[Any]], Sequence[float]]


def _cells(term: dict[str, Any]) -> _Finder:
    finders = [_code_finder(codes) for codes in term["codes"]]
    table = term["scores"]

    def found(values: Sequence[Any]) -> Sequence[float]:
        cell: Any = table
        for find in finders:
            cell = cell[find(values)]
        return cell  # type: ignore[no-any-return]

    return found


def _lines(term: dict[str, Any]) -> _Finder:
    find = _code_finder(term["codes"])
    column, anchors, missing = term["codes"]["column"], term["anchors"], term["missing"]
    offsets, slopes = term["offset"], term["slope"]

    def found(values: Sequence[Any]) -> Sequence[float]:
        k = find(values) - 1
        if k < 0:
            return missing  # type: ignore[no-any-return]
        away = _cut(values[column] - anchors[k], _LARGEST)
        both = zip(offsets[k], slopes[k], strict=True)
        return [offset + _cut(slope * away, _FARTHEST) for offset, slope in both]

    return found


def _parabolas(term: dict[str, Any]) -> _Finder:
    column, missing = term["column"], term["missing"]
    parts = [term[name] for name in ("offset", "center", "factor", "weight")]

    def found(values: Sequence[Any]) -> Sequence[float]:
        x = values[column]
        if x is None:
            return missing  # type: ignore[no-any-return]
        return [
            offset - weight * min(_FARTHEST, ((x - center) * factor) * ((x - center) * factor))
            for offset, center, factor, weight in zip(*parts, strict=True)
        ]

    return found


_FORMS: dict[str, Callable[[dict[str, Any]], _Finder]] = {
    "cells": _cells,
    "lines": _lines,
    "parabolas": _parabolas,
}


def _code_finder(codes: dict[str, Any]) -> Callable[[Sequence[Any]], int]:
    """Return what finds codes: 0 is missing, the last one unseen."""
    column: int = codes["column"]
    if "edges" in codes:
        edges: list[float] = codes["edges"]
        special = {x: len(edges) + 2 + k for k, x in enumerate(codes.get("special", []))}

        def interval(values: Sequence[Any]) -> int:
            x = values[column]
            return 0 if x is None else special.get(x) or 1 + bisect_left(edges, x)

        return interval
    groups = enumerate(codes["groups"], start=1)
    known: dict[Any, int] = {value: code for code, group in groups for value in group}
    known[None] = 0
    unseen = 1 + len(codes["groups"])
    return lambda values: known.get(values[column], unseen)


def _cut(value: float, most: float) -> float:
    return min(most, max(-most, value))


def _number(value: Any) -> float | int:
    if not isinstance(value, (Real, Decimal)):
        raise TypeError("expected a number")
    if not math.isfinite(value):
        raise ValueError("it is infinite")
    # Large integers keep all digits, for they may be names.
    return int(value) if isinstance(value, Integral) else float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("expected text")
    return value


def _either(value: Any) -> Any:
    return value if isinstance(value, str) else _number(value)


def _instant(value: Any) -> float | int:
    """Return the seconds since 1970 of a date, of one in ISO 8601, or as they are."""
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(
            value[:-1] + "+00:00" if value[-1:] == "Z" else value
        )
    if not isinstance(value, datetime.date):
        return _number(value)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)  # noqa: UP017
    return float((value - _START) // _MICROSECOND) / 1e6


def _span(value: Any) -> float | int:
    """Return the seconds of a duration, or as they are."""
    if isinstance(value, datetime.timedelta):
        return float(value // _MICROSECOND) / 1e6
    return _number(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "number": _number,
    "boolean": _number,
    "text": _text,
    "mixed": _either,
    "empty": _either,
    "datetime": _instant,
    "duration": _span,
}


def score_csv(scorer: Scorer, source: Iterable[str], target: TextIO) -> None:
    """Read rows as CSV and write the predicted class and all probabilities of each.

    Parameters
    ----------
    scorer : Scorer
        What scores rows.
    source : iterable of str
        Lines of CSV, the first one with the names of the columns.
    target : text file
        Where the predictions are written to, as CSV.
    """
    mixed = [name for name, kind, used in scorer.columns if used and kind == "mixed"]
    if mixed:
        raise ValueError(f"Column {mixed[0]!r} mixes text and numbers, which CSV cannot tell apart")
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["predicted", *(f"probability_{label}" for label in scorer.classes)])
    for number, cells in enumerate(csv.DictReader(source), start=1):
        try:
            row = {
                name: _cell(cells[name], kind)
                for name, kind, used in scorer.columns
                if used and name in cells
            }
            probabilities = scorer.predict_proba(row)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"row {number}: {error.args[0]}") from None
        writer.writerow([scorer.predict(row), *probabilities.values()])


def _cell(cell: str | None, kind: str) -> Any:
    if cell is None or cell in MISSING:
        return None
    if kind in ("number", "duration"):
        if "_" in cell:
            raise ValueError(f"{cell!r} is not a number")
        return float(cell)
    if kind == "boolean":
        if cell not in TRUE and cell not in FALSE:
            raise ValueError(f"{cell!r} is neither true nor false")
        return cell in TRUE
    return cell
