"""What databases spell differently: numbers, text, dates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

try:
    from sqlglot import exp
except ImportError as error:
    raise ImportError("SQL needs sqlglot: pip install 'lessnaive[sql]'.") from error

__all__ = ["DIALECTS", "Expression", "SqlDialect", "exp"]

Expression = Any
_Reader = Callable[[Expression], Expression]


def _call(name: str, *arguments: Expression) -> Expression:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _string(text: str) -> Expression:
    return exp.Literal.string(text)


def _millionth(microseconds: Expression) -> Expression:
    """Return seconds, exactly as Python divides."""
    whole = exp.cast(microseconds, "double")
    return exp.Div(this=whole, expression=exp.Literal.number("1e6"), typed=False, safe=False)


def _no_nan(number: Expression) -> Expression:
    """Return NULL for NaN, where NaN equals itself."""
    return _call("NULLIF", number, exp.cast(_string("NaN"), "double"))


def _collated(name: str, *, quoted: bool = False) -> _Reader:
    """Return what makes a comparison of text one of characters, whatever the column says."""
    collation = exp.to_identifier(name, quoted=quoted)
    return lambda text: exp.Collate(
        this=text, expression=exp.Var(this=name) if not quoted else collation
    )


def _as_it_is(value: Expression) -> Expression:
    return value


@dataclass(frozen=True)
class SqlDialect:
    """How a database reads columns and writes numbers.

    Attributes
    ----------
    instant : callable
        Seconds since 1970 of a column of dates.
    span : callable
        Seconds of a column of durations.
    number : callable
        NULL for NaN, where a column of doubles may hold it.
    text : callable
        Text that is compared character by character.
    casts_literals : bool
        Whether numbers with an exponent are decimals, so that they have to be cast.
    materialized : bool
        Whether parts of a query have to be told not to be computed again for each use.
    national : bool
        Whether literals of Unicode have a prefix.
    bits : bool
        Whether a truth value is a bit, rather than TRUE or FALSE.
    """

    instant: _Reader
    span: _Reader
    number: _Reader = _as_it_is
    text: _Reader = _as_it_is
    casts_literals: bool = False
    materialized: bool = False
    national: bool = False
    bits: bool = False

    def double(self, value: float) -> Expression:
        """Return a number of double precision, to the last digit."""
        digits = repr(abs(value))
        literal: Expression = exp.Literal.number(digits if "e" in digits else f"{digits}e0")
        if self.casts_literals:
            literal = exp.cast(exp.Literal.number(digits), "double")
        return exp.Neg(this=literal) if value < 0 else literal

    def string(self, text: str) -> Expression:
        """Return text."""
        return exp.National(this=text) if self.national else _string(text)

    def boolean(self, value: bool) -> Expression:
        """Return a truth value."""
        if self.bits:
            return exp.cast(exp.Literal.number(int(value)), "BIT", dialect="tsql")
        return exp.Boolean(this=value)


def _seconds(column: Expression) -> Expression:
    return exp.cast(column, "double")


def _sqlite_instant(column: Expression) -> Expression:
    """Return what text in ISO 8601 stands for, to the millisecond; numbers are seconds already."""
    whole = exp.cast(_call("STRFTIME", _string("%s"), column), "double")
    part = exp.cast(_call("STRFTIME", _string("%f"), column), "double")
    second = exp.cast(_call("STRFTIME", _string("%S"), column), "double")
    fraction = exp.paren(exp.Sub(this=part, expression=second))
    milliseconds = _call("ROUND", exp.Mul(this=fraction, expression=exp.Literal.number(1000)))
    total = exp.Add(
        this=exp.Mul(this=whole, expression=exp.Literal.number(1000)), expression=milliseconds
    )
    from_text = exp.Div(
        this=exp.paren(total), expression=exp.Literal.number("1e3"), typed=False, safe=False
    )
    is_text = exp.EQ(this=_call("TYPEOF", column.copy()), expression=_string("text"))
    return exp.Case(ifs=[exp.If(this=is_text, true=from_text)], default=exp.cast(column, "double"))


def _epoch(column: Expression) -> Expression:
    return exp.cast(exp.Extract(this=exp.var("EPOCH"), expression=column), "double")


def _since_1970(function: str, start: Expression) -> _Reader:
    return lambda column: _millionth(_call(function, exp.var("MICROSECOND"), start.copy(), column))


def _not_nan_by_test(number: Expression) -> Expression:
    return _call("IF", _call("IS_NAN", number.copy()), exp.null(), number)


_NTZ = exp.DataType.build("TIMESTAMP_NTZ", dialect="spark")

#: The dialects that are written, by their names in sqlglot.
DIALECTS: dict[str, SqlDialect] = {
    "duckdb": SqlDialect(
        instant=lambda column: _millionth(_call("EPOCH_US", column)),
        span=lambda column: _millionth(_call("EPOCH_US", column)),
        number=_no_nan,
    ),
    "postgres": SqlDialect(
        instant=_epoch,
        span=_epoch,
        number=_no_nan,
        text=_collated("C", quoted=True),
        casts_literals=True,
        materialized=True,
    ),
    "sqlite": SqlDialect(
        instant=_sqlite_instant, span=_seconds, text=_collated("BINARY"), materialized=True
    ),
    "bigquery": SqlDialect(
        instant=lambda column: _millionth(_call("UNIX_MICROS", _call("TIMESTAMP", column))),
        span=_seconds,
        number=_not_nan_by_test,
    ),
    "snowflake": SqlDialect(
        instant=lambda column: _millionth(
            _call("DATE_PART", exp.var("EPOCH_MICROSECOND"), exp.cast(column, "TIMESTAMPNTZ"))
        ),
        span=_seconds,
        number=_no_nan,
        casts_literals=True,
    ),
    "spark": SqlDialect(
        instant=lambda column: _since_1970("TIMESTAMPDIFF", exp.cast(_string("1970-01-01"), _NTZ))(
            exp.cast(column, _NTZ)
        ),
        span=_seconds,
        number=_no_nan,
    ),
    "mysql": SqlDialect(
        instant=_since_1970("TIMESTAMPDIFF", _string("1970-01-01")),
        span=_seconds,
        text=_collated("utf8mb4_0900_bin"),
    ),
    "tsql": SqlDialect(
        instant=_since_1970("DATEDIFF_BIG", _string("1970-01-01")),
        span=_seconds,
        text=_collated("Latin1_General_100_BIN2"),
        national=True,
        bits=True,
    ),
}
