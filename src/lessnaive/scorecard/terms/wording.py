"""Numbers as people read them: dates as dates, differences between dates as durations."""

from __future__ import annotations

from datetime import datetime, timedelta

from lessnaive.table import Kind

__all__ = ["amount_text", "number_text", "value_text"]

_START = datetime(1970, 1, 1)
_MINUTE, _DAY = 60, 86_400


def number_text(value: float, kind: Kind, digits: int = 6) -> str:
    """Return a number of a column as text: one of a column of dates as a date.

    Parameters
    ----------
    value : float
        The number; of dates the seconds since 1970.
    kind : Kind
        What the column holds.
    digits : int, default=6
        Number of digits of plain numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> from lessnaive.scorecard.terms.wording import number_text
    >>> from lessnaive.table import Kind
    >>> number_text(1709164800.0, Kind.DATETIME)
    '2024-02-29'
    >>> number_text(1709164800.0 + 3600, Kind.DATETIME)
    '2024-02-29 01:00:00'
    >>> number_text(90000.0, Kind.DURATION)
    '1 day, 1:00:00'
    """
    if not kind.is_time:
        return f"{value:.{digits}g}"
    try:
        span = timedelta(seconds=value)
        if kind is Kind.DURATION:
            return str(span)
        instant = _START + span
    except OverflowError:
        return f"{value:.{digits}g} s"
    return str(instant.date() if instant.time() == _START.time() else instant)


def amount_text(value: float, kind: Kind, digits: int = 4) -> str:
    """Return a difference between numbers of a column as text: of dates, a duration."""
    if not kind.is_time:
        return f"{value:.{digits}g}"
    if abs(value) >= _DAY:
        return f"{value / _DAY:.{digits}g} days"
    return f"{value:.{digits}g} s" if abs(value) < _MINUTE else str(timedelta(seconds=round(value)))


def value_text(value: object, kind: Kind, digits: int = 6) -> str:
    """Return a value of a column as people read it.

    Parameters
    ----------
    value : object
        The value; None or NaN for a missing one.
    kind : Kind
        What the column holds.
    digits : int, default=6
        Number of digits of plain numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> from lessnaive.scorecard.terms.wording import value_text
    >>> from lessnaive.table import Kind
    >>> value_text(0.1 + 0.2, Kind.NUMBER), value_text(None, Kind.TEXT), value_text("a", Kind.TEXT)
    ('0.3', '(missing)', 'a')
    """
    if value is None or value != value:
        return "(missing)"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(float(value), kind, digits)
    return str(value)
