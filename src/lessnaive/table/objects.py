"""Columns of Python objects: what they hold, and their codes."""

from __future__ import annotations

import datetime
import numbers
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import TableError
from lessnaive.table.kinds import Kind

__all__ = [
    "FEW_ROWS",
    "Factorized",
    "Objects",
    "factorize_objects",
    "is_missing",
    "numbers_of_objects",
]

Objects = Sequence[Any] | NDArray[np.object_]

#: Up to this many rows Python's own lists and dictionaries are faster than any library.
FEW_ROWS = 64


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


def numbers_of_objects(values: Objects, kind: Kind, name: str) -> NDArray[np.float64]:
    """Values as floats, NaN where missing; dates and durations as seconds."""
    if kind is Kind.DATETIME:
        instants = [_utc(value) for value in _blank(values, np.datetime64("NaT"))]
        return seconds(np.array(instants, dtype="datetime64[us]"))
    if kind is Kind.DURATION:
        return seconds(np.array(_blank(values, np.timedelta64("NaT")), dtype="timedelta64[us]"))
    try:
        return np.array(_blank(values, np.nan), dtype=np.float64)
    except OverflowError:
        raise _too_large(name) from None


def _too_large(name: str) -> TableError:
    return TableError(
        f"Column {name!r} holds a number too large for a float (above 1.8e308): rescale the "
        "column, or convert its values to text if they are names."
    )


class Factorized(NamedTuple):
    """A column of objects as codes (-1 = missing) and its distinct values, with their kind."""

    codes: NDArray[Any]
    levels: list[str | int | float | bool]
    kind: Kind


def factorize_objects(values: Objects, name: str) -> Factorized:
    """Codes, distinct values in order of appearance, and what they are."""
    raw, distinct = _distinct(values, name)
    place: list[int] = []
    levels: dict[str | int | float | bool, int] = {}
    kinds: set[Kind] = set()
    for value in distinct:
        if type(value) is str:  # as most are
            kinds.add(Kind.TEXT)
            place.append(levels.setdefault(value, len(levels)))
            continue
        if is_missing(value):
            place.append(-1)
            continue
        kinds.add(_kind_of(type(value)))
        try:
            level = _plain(value)
        except OverflowError:  # of a fraction
            raise _too_large(name) from None
        place.append(levels.setdefault(level, len(levels)))
    place.append(-1)  # what a code of -1 stands for
    codes = np.array(place, dtype=np.min_scalar_type(-max(len(levels), 1)))[raw]
    return Factorized(codes, list(levels), _common_kind(kinds, values))


def seconds(values: NDArray[Any]) -> NDArray[np.float64]:
    """Datetimes (since 1970) or durations as seconds, NaN where missing."""
    unit = np.timedelta64(1, "s")
    spans = values - np.datetime64(0, "s") if values.dtype.kind == "M" else values
    return np.asarray(spans / unit, dtype=np.float64)


def _distinct(values: Objects, name: str) -> tuple[NDArray[Any], Sequence[Any]]:
    """Place of each value among the distinct ones, and these."""
    pandas = sys.modules.get("pandas")
    try:
        if pandas is not None and isinstance(values, np.ndarray) and len(values) > FEW_ROWS:
            codes, distinct = pandas.factorize(values)
            return codes, distinct
        values = values.tolist() if isinstance(values, np.ndarray) else values
        place = {value: i for i, value in enumerate(dict.fromkeys(values))}
        codes = np.fromiter(map(place.__getitem__, values), dtype=np.int64, count=len(values))
        return codes, list(place)
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


def _kind_of(kind: type) -> Kind:
    if issubclass(kind, bool | np.bool_):
        return Kind.BOOLEAN
    if issubclass(kind, numbers.Real | Decimal):
        return Kind.NUMBER
    if issubclass(kind, datetime.date | np.datetime64):
        return Kind.DATETIME
    if issubclass(kind, datetime.timedelta | np.timedelta64):
        return Kind.DURATION
    return Kind.TEXT


def _common_kind(kinds: set[Kind], values: Objects) -> Kind:
    if not kinds:
        return Kind.EMPTY
    if kinds == {Kind.BOOLEAN}:
        # True == 1, so that a number may hide behind a boolean among the distinct values.
        numeric = {t for t in set(map(type, values)) if _kind_of(t) is Kind.NUMBER}
        hidden = any(type(value) in numeric and not is_missing(value) for value in values)
        return Kind.NUMBER if hidden else Kind.BOOLEAN
    if kinds == {Kind.BOOLEAN, Kind.NUMBER}:
        return Kind.NUMBER
    return kinds.pop() if len(kinds) == 1 else Kind.MIXED


def _plain(value: Any) -> str | int | float | bool:
    """Return the value as one of the types that a model file can hold."""
    kind = _kind_of(type(value))
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


def _blank(values: Objects, blank: Any) -> list[Any]:
    return [blank if is_missing(value) else value for value in values]
