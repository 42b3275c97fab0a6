"""Pieces of queries: cases, sums, names and comments."""

from __future__ import annotations

from lessnaive.deploy.sql_dialects import Expression, exp

__all__ = [
    "case",
    "greatest",
    "is_null",
    "named",
    "operand",
    "plus",
    "quoted",
    "safe",
    "searched",
    "with_comment",
]

# More intervals than this are halved rather than tried one by one.
_FEW = 8


def searched(below: list[Expression], results: list[Expression]) -> Expression:
    """Return the first result whose test holds, by halving where there are many."""
    if len(below) <= _FEW:
        return case(list(zip(below, results, strict=False)), results[-1]) if below else results[0]
    middle = len(below) // 2
    lower = searched(below[:middle], results[: middle + 1])
    upper = searched(below[middle + 1 :], results[middle + 1 :])
    return case([(below[middle], lower)], upper)


def case(
    whens: list[tuple[Expression, Expression]], rest: Expression, value: Expression | None = None
) -> Expression:
    """Return a CASE, of tests or of the values of an expression."""
    ifs = [exp.If(this=test, true=result) for test, result in whens]
    return exp.Case(this=value, ifs=ifs, default=rest)


def greatest(columns: list[Expression]) -> Expression:
    """Return the largest of some columns."""
    if len(columns) == 1:
        return columns[0]
    return exp.Greatest(this=columns[0], expressions=columns[1:], ignore_nulls=False)


def plus(first: Expression, second: Expression) -> Expression:
    """Return a sum."""
    return exp.Add(this=first, expression=operand(second))


def operand(value: Expression) -> Expression:
    """Return a number that may follow an operator: -1 in brackets, since -- begins a comment."""
    return exp.paren(value, copy=False) if isinstance(value, exp.Neg) else value


def is_null(x: Expression) -> Expression:
    """Return a test for NULL."""
    return exp.Is(this=x.copy(), expression=exp.null())


def quoted(name: str) -> Expression:
    """Return a name as it is spelled."""
    return exp.to_identifier(name, quoted=True)


def named(
    value: Expression, name: str, *, quoted: bool = False, comment: str | None = None
) -> Expression:
    """Return a column of a SELECT."""
    alias = exp.Alias(this=value, alias=exp.to_identifier(name, quoted=quoted))
    return alias if comment is None else with_comment(alias, comment)


def with_comment(value: Expression, text: str) -> Expression:
    """Return an expression that a comment follows."""
    value.comments = [f" {safe(text)} "]
    return value


def safe(text: str, most: int = 60) -> str:
    """Return text that ends no comment, begins none, and stands on one line."""
    shown = "".join(c if c.isprintable() else " " for c in text)[:most]
    return shown.replace("*/", "* /").replace("/*", "/ *").strip("*/!+ ") or "..."
