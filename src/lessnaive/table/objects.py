"""Columns of Python objects: what they hold, and their codes."""

from __future__ import annotations

import datetime
import numbers
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import TableError
from lessnaive.table.kinds import Kind

__all__ = ["factorize_objects", "is_missing", "kind_of_objects", "numbers_of_objects"]


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    pandas = sys.modules.get("pandas")
    if pandas is not None and value is pandas.NA:
        return True
    return bool(value != value)


def kind_of_objects(values: Sequence[Any], name: str) -> Kind:
    """Tell what a column of Python objects holds."""
    kinds = {_kind_of(value) for value in _distinct(values, name) if not is_missing(value)}
    if not kinds:
        return Kind.EMPTY
    if kinds <= {Kind.NUMBER, Kind.BOOLEAN}:
        # True == 1, so that the two are one value in a set: look at the types as well.
        types = {_kind_of_type(t) for t in set(map(type, values))}
        return Kind.NUMBER if Kind.NUMBER in kinds or _has_integers(types, values) else Kind.BOOLEAN
    if len(kinds) == 1:
        return kinds.pop()
    return Kind.MIXED


def numbers_of_objects(values: Sequence[Any], kind: Kind) -> NDArray[np.float64]:
    """Values as floats, NaN where missing; dates and durations as seconds."""
    if kind is Kind.DATETIME:
        instants = [_utc(value) for value in _blank(values, np.datetime64("NaT"))]
        return seconds(np.array(instants, dtype="datetime64[us]"))
    if kind is Kind.DURATION:
        return seconds(np.array(_blank(values, np.timedelta64("NaT")), dtype="timedelta64[us]"))
    return np.array(_blank(values, np.nan), dtype=np.float64)


def factorize_objects(
    values: Sequence[Any], name: str
) -> tuple[NDArray[np.int64], list[str | int | float | bool]]:
    """Codes (-1 = missing) and distinct values, in order of appearance."""
    place: dict[Any, int] = {}
    levels: dict[Any, int] = {}
    for value in _distinct(values, name):
        if is_missing(value):
            place[value] = -1
        else:
            place[value] = levels.setdefault(_plain(value), len(levels))
    codes = np.fromiter(map(place.__getitem__, values), dtype=np.int64, count=len(values))
    return codes, list(levels)


def seconds(values: NDArray[Any]) -> NDArray[np.float64]:
    """Datetimes (since 1970) or durations as seconds, NaN where missing."""
    unit = np.timedelta64(1, "s")
    spans = values - np.datetime64(0, "s") if values.dtype.kind == "M" else values
    return np.asarray(spans / unit, dtype=np.float64)


def _distinct(values: Sequence[Any], name: str) -> Iterable[Any]:
    try:
        return dict.fromkeys(values)
    except TypeError:
        kind = next(type(value).__name__ for value in values if _unhashable(value))
        raise TableError(
            f"Column {name!r} holds a value of type {kind}: cells must be single numbers, "
            "strings, booleans or missing."
        ) from None


def _unhashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return True
    return False


def _kind_of(value: Any) -> Kind:
    return _kind_of_type(type(value))


def _kind_of_type(kind: type) -> Kind:
    if issubclass(kind, bool | np.bool_):
        return Kind.BOOLEAN
    if issubclass(kind, numbers.Real | Decimal):
        return Kind.NUMBER
    if issubclass(kind, datetime.date | np.datetime64):
        return Kind.DATETIME
    if issubclass(kind, datetime.timedelta | np.timedelta64):
        return Kind.DURATION
    return Kind.TEXT


def _has_integers(types: set[Kind], values: Sequence[Any]) -> bool:
    if Kind.NUMBER not in types:
        return False
    return any(_kind_of(value) is Kind.NUMBER and not is_missing(value) for value in values)


def _plain(value: Any) -> str | int | float | bool:
    """Return the value as one of the types that a model file can hold."""
    kind = _kind_of(value)
    if kind is Kind.BOOLEAN:
        return bool(value)
    if kind is Kind.NUMBER:
        number = int(value) if isinstance(value, numbers.Integral) else float(value)
        return int(number) if isinstance(number, float) and number.is_integer() else number
    return str(value)


def _utc(value: Any) -> Any:
    """Drop a time zone after moving to UTC: numpy's datetimes have none."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _blank(values: Sequence[Any], blank: Any) -> list[Any]:
    return [blank if is_missing(value) else value for value in values]
