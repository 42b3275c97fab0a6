"""Models as SQL: one SELECT that gives the probabilities and the predicted class of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from lessnaive._version import __version__
from lessnaive.deploy.formulas import InputColumn, Member, ModelFormulas, formulas_of
from lessnaive.deploy.sql_dialects import DIALECTS, Expression, SqlDialect, exp
from lessnaive.deploy.sql_expressions import (
    case,
    greatest,
    is_null,
    named,
    operand,
    plus,
    quoted,
    safe,
    searched,
    with_comment,
)
from lessnaive.scorecard.terms.formulas import (
    Cells,
    Codes,
    IntervalCodes,
    Lines,
    Parabolas,
    SpecialCodes,
    ValueCodes,
)
from lessnaive.table import Kind

__all__ = ["to_sql"]

# Exponentials of less are 0 in double precision, or an error in some databases.
_LOWEST = -700.0
# Integers from here on are not all doubles.
_INEXACT = 2**53
# What the table to predict is called inside of the query. Columns are named together with it, for
# SQLite takes a quoted name that stands alone for text where there is no such column.
_SOURCE = "source"


def to_sql(
    model: Any,
    table: str | Sequence[str] = "data",
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
) -> str:
    """Return a model as one SELECT.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted classifier of lessnaive, or the scorecard of one.
    table : str or sequence of str, default="data"
        The table to predict: its name, with points between the names of a catalog, a schema and a
        table, or these names one by one.
    dialect : {"duckdb", "postgres", "sqlite", "bigquery", "snowflake", "spark", "mysql", "tsql"}
        The database.
    keep : sequence of str, default=()
        Columns of the table that stand in front of the predictions, such as its key.

    Returns
    -------
    str
        The query. It gives the kept columns, ``predicted``, and ``probability_`` followed by the
        label, for each class. NULL and NaN are missing. Names are quoted, and are those that the
        model was fitted with.

    Examples
    --------
    >>> import lessnaive
    >>> X, y = [["a"], ["b"], ["b"], ["b"]], ["no", "no", "yes", "yes"]
    >>> model = lessnaive.NaiveBayes().fit(X, y)
    >>> print(lessnaive.to_sql(model, "people", keep=["id"]))  # doctest: +ELLIPSIS
    /* NaiveBayes, made by lessnaive ... */
    WITH inputs AS (
      SELECT
        source."id" AS kept_1,
        CAST(source."x0" AS TEXT) AS input_1 /* x0 */
      FROM "people" AS source
    ), codes AS (
      SELECT
        *,
        CASE WHEN input_1 IS NULL THEN 0 WHEN input_1 = 'a' THEN 1 WHEN input_1 = 'b' THEN 2 ELSE 3 END AS code_1 /* x0 */
      FROM inputs
    ...
    """  # noqa: E501
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}.")
    query = _Query(formulas_of(model), DIALECTS[dialect], list(dict.fromkeys(keep)))
    title = f"/* {safe(query.model)}, made by lessnaive {__version__} */"
    return f"{title}\n{query.select(table).sql(dialect=dialect, pretty=True)}\n"


class _Query:
    """The parts of a query, from the columns of a table to the probabilities.

    Each part is a SELECT from the one before, with more columns.
    """

    def __init__(self, formulas: ModelFormulas, dialect: SqlDialect, keep: list[str]) -> None:
        self.model = formulas.model
        self._formulas = formulas
        self._dialect = dialect
        self._keep = keep
        self._labels = [f"probability_{label}" for label in formulas.classes]
        taken = {"predicted", *self._labels} & set(keep)
        if taken:
            raise ValueError(f"keep names {taken.pop()!r}, which is a column of the predictions.")
        self._inputs = {
            place: f"input_{number}"
            for number, (place, _) in enumerate(formulas.used_columns(), start=1)
        }
        self._code_names: dict[str, str] = {}
        self._codes: list[Expression] = []

    def select(self, table: str | Sequence[str]) -> Expression:
        """Return the query."""
        parts = [name for name in (table.split(".") if isinstance(table, str) else table) if name]
        if not 1 <= len(parts) <= 3:
            raise ValueError(f"table must be one name, or two or three with points, got {table!r}.")
        source = exp.Table(
            **dict(zip(("this", "db", "catalog"), map(quoted, parts[::-1]), strict=False)),
            alias=exp.TableAlias(this=exp.to_identifier(_SOURCE)),
        )
        scores = [self._member_scores(m, member) for m, member in enumerate(self._formulas.members)]
        n_members = range(len(scores))
        layers: list[tuple[str, list[Expression]]] = [
            ("codes", self._codes),
            ("scores", [column for own in scores for column in own]),
            ("peaks", [named(self._highest(m), f"highest{_suffix(m)}") for m in n_members]),
            ("odds", [self._odds(m, c) for m in n_members for c in self._classes]),
            ("sums", [named(self._total(m), f"total{_suffix(m)}") for m in n_members]),
            ("shares", [named(self._share(c), f"share_{c + 1}") for c in self._classes]),
        ]
        if len(scores) > 1:
            shares = [exp.column(f"share_{c + 1}") for c in self._classes]
            layers.append(("best", [named(greatest(shares), "highest_share")]))
        # A part that is called as the table would take its place, in some databases.
        mark = "_" if parts[-1].lower() in {"inputs", *(name for name, _ in layers)} else ""
        return self._assembled(source, layers, mark)

    def _assembled(
        self, source: Expression, layers: list[tuple[str, list[Expression]]], mark: str
    ) -> Expression:
        last = f"inputs{mark}"
        ctes = [self._cte(last, exp.select(*self._read_columns()).from_(source))]
        for name, columns in layers:
            if columns:
                own = f"{name}{mark}"
                ctes.append(self._cte(own, exp.select(exp.Star(), *columns).from_(last)))
                last = own
        kept = [named(exp.column(f"kept_{k}"), name, quoted=True) for k, name in self._numbered()]
        shares = [
            named(exp.column(f"share_{c + 1}"), label, quoted=True)
            for c, label in enumerate(self._labels)
        ]
        predicted = named(self._predicted(), "predicted", quoted=True)
        query = exp.select(*kept, predicted, *shares).from_(last)
        query.set("with_", exp.With(expressions=ctes))
        return query

    @property
    def _classes(self) -> range:
        return range(len(self._formulas.classes))

    def _numbered(self) -> enumerate[str]:
        return enumerate(self._keep, start=1)

    def _cte(self, name: str, query: Expression) -> Expression:
        alias = exp.TableAlias(this=exp.to_identifier(name))
        materialized = True if self._dialect.materialized and "inputs" not in name else None
        return exp.CTE(this=query, alias=alias, materialized=materialized)

    def _read_columns(self) -> list[Expression]:
        kept = [named(_of_source(name), f"kept_{k}") for k, name in self._numbered()]
        used = [
            named(self._read(column), self._inputs[place], comment=column.name)
            for place, column in self._formulas.used_columns()
        ]
        return kept + (used or [named(exp.Literal.number(1), "no_input")])

    def _read(self, column: InputColumn) -> Expression:
        name = _of_source(column.name)
        if column.kind is Kind.TEXT:
            text = exp.cast(name, "nvarchar(max)" if self._dialect.national else "text")
            return self._dialect.text(text)
        if column.kind is Kind.BOOLEAN:
            return exp.cast(name, "int")
        if column.kind is Kind.DATETIME:
            return self._dialect.instant(name)
        if column.kind is Kind.DURATION:
            return self._dialect.span(name)
        if column.kind is Kind.NUMBER:
            return self._dialect.number(exp.cast(name, "double"))
        raise ValueError(
            f"Column {column.name!r} held {column.kind.plural} when the model was fitted, which no "
            "column of a database does: convert it to text or numbers, and fit the model again."
        )

    def _code(self, codes: Codes) -> Expression:
        """Return the column that holds codes, which is made if there is none yet."""
        key = repr(codes)
        if key not in self._code_names:
            self._code_names[key] = f"code_{len(self._code_names) + 1}"
            found = codes.accept(_CodeCase(self._dialect, self._inputs, self._formulas.columns))
            name = self._formulas.columns[codes.column].name
            self._codes.append(named(found, self._code_names[key], comment=name))
        return exp.column(self._code_names[key])

    def _member_scores(self, m: int, member: Member) -> list[Expression]:
        return [
            named(self._score(member, c), f"score{_suffix(m)}_{c + 1}", comment=str(label))
            for c, label in enumerate(self._formulas.classes)
        ]

    def _score(self, member: Member, c: int) -> Expression:
        writer = _ScoreCase(self._dialect, self._inputs, self._code, c)
        first, second = member.sums()
        total = self._dialect.double(float(member.intercept[c]))
        parts = [
            [with_comment(t.formula.accept(writer), t.name) for t in own] for own in (first, second)
        ]
        total = reduce(plus, parts[0], total)
        return total if not parts[1] else plus(total, exp.paren(reduce(plus, parts[1])))

    def _highest(self, m: int) -> Expression:
        return greatest([exp.column(f"score{_suffix(m)}_{c + 1}") for c in self._classes])

    def _odds(self, m: int, c: int) -> Expression:
        gap = exp.Sub(
            this=exp.column(f"score{_suffix(m)}_{c + 1}"),
            expression=exp.column(f"highest{_suffix(m)}"),
        )
        too_low = exp.LT(this=gap.copy(), expression=self._dialect.double(_LOWEST))
        odds = case([(too_low, self._dialect.double(0.0))], exp.Exp(this=gap))
        return named(odds, f"odds{_suffix(m)}_{c + 1}")

    def _total(self, m: int) -> Expression:
        return reduce(plus, (exp.column(f"odds{_suffix(m)}_{c + 1}") for c in self._classes))

    def _share(self, c: int) -> Expression:
        parts = []
        for m, member in enumerate(self._formulas.members):
            odds, total = exp.column(f"odds{_suffix(m)}_{c + 1}"), exp.column(f"total{_suffix(m)}")
            share: Expression = exp.Div(this=odds, expression=total, typed=False, safe=False)
            if len(self._formulas.members) > 1:
                share = exp.Mul(
                    this=self._dialect.double(member.weight), expression=exp.paren(share)
                )
            parts.append(share)
        return reduce(plus, parts)

    def _predicted(self) -> Expression:
        one = len(self._formulas.members) == 1
        highest = exp.column("highest" if one else "highest_share")
        labels = [self._label(label) for label in self._formulas.classes]
        if len(labels) == 1:
            return labels[0]
        whens = [
            (
                exp.EQ(
                    this=exp.column(f"{'score' if one else 'share'}_{c + 1}"),
                    expression=highest.copy(),
                ),
                label,
            )
            for c, label in enumerate(labels[:-1])
        ]
        return case(whens, labels[-1])

    def _label(self, label: Any) -> Expression:
        if isinstance(label, str):
            return self._dialect.string(label)
        if isinstance(label, bool):
            return self._dialect.boolean(label)
        if isinstance(label, int):
            literal = exp.Literal.number(abs(label))
            return exp.Neg(this=literal) if label < 0 else literal
        return self._dialect.double(label)


class _CodeCase:
    """The CASE that finds the code of a value."""

    def __init__(
        self, dialect: SqlDialect, inputs: dict[int, str], columns: list[InputColumn]
    ) -> None:
        self._dialect = dialect
        self._inputs = inputs
        self._columns = columns

    def values(self, codes: ValueCodes) -> Expression:
        x = exp.column(self._inputs[codes.column])
        whens: list[tuple[Expression, Expression]] = [(is_null(x), exp.Literal.number(0))]
        for code, group in enumerate(codes.groups, start=1):
            known = [self._literal(value, self._columns[codes.column]) for value in group]
            if len(known) == 1:
                test: Expression = exp.EQ(this=x.copy(), expression=known[0])
            else:
                test = exp.In(this=x.copy(), expressions=known)
            if known:
                whens.append((test, exp.Literal.number(code)))
        return case(whens, exp.Literal.number(len(codes.groups) + 1))

    def intervals(self, codes: IntervalCodes) -> Expression:
        x = exp.column(self._inputs[codes.column])
        numbers = [exp.Literal.number(code) for code in range(1, len(codes.edges) + 2)]
        below = [
            exp.LTE(this=x.copy(), expression=self._dialect.double(edge)) for edge in codes.edges
        ]
        return case([(is_null(x), exp.Literal.number(0))], searched(below, numbers))

    def special(self, codes: SpecialCodes) -> Expression:
        x = exp.column(self._inputs[codes.column])
        whens = [
            (
                exp.EQ(this=x.copy(), expression=self._dialect.double(value)),
                exp.Literal.number(code),
            )
            for code, value in enumerate(codes.special, start=len(codes.edges) + 2)
        ]
        return case(whens, self.intervals(IntervalCodes(codes.column, codes.edges)))

    def _literal(self, value: str | int | float, column: InputColumn) -> Expression:
        if isinstance(value, str):
            return self._dialect.string(value)
        if column.kind is Kind.BOOLEAN:
            return exp.Literal.number(int(value))
        if abs(value) >= _INEXACT and isinstance(value, int):
            raise ValueError(
                f"Column {column.name!r} has integers from 2**53 on as names, which are no "
                "doubles: convert it to text, and fit the model again."
            )
        return self._dialect.double(float(value))


class _ScoreCase:
    """What a term adds to the score of one class."""

    def __init__(
        self,
        dialect: SqlDialect,
        inputs: dict[int, str],
        code: Callable[[Codes], Expression],
        c: int,
    ) -> None:
        self._double = dialect.double
        self._inputs = inputs
        self._code = code
        self._c = c

    def cells(self, formula: Cells) -> Expression:
        names = [self._code(codes) for codes in formula.codes]
        return self._looked_up(names, formula.scores[..., self._c].tolist())

    def _looked_up(self, names: list[Expression], scores: Any) -> Expression:
        if not names:
            return self._double(scores)
        # What most codes have comes last; the others by their numbers.
        usual = max(scores, key=scores.count)
        whens = [
            (exp.Literal.number(code), self._looked_up(names[1:], own))
            for code, own in enumerate(scores)
            if own != usual
        ]
        rest = self._looked_up(names[1:], usual)
        return rest if not whens else case(whens, rest, names[0].copy())

    def lines(self, formula: Lines) -> Expression:
        x, c = exp.column(self._inputs[formula.codes.column]), self._c
        lines = [
            self._line(x, *parameters)
            for parameters in zip(
                formula.anchors,
                formula.offset[:, c].tolist(),
                formula.slope[:, c].tolist(),
                strict=True,
            )
        ]
        missing = self._double(float(formula.missing[c]))
        if len(lines) == 1:
            return case([(is_null(x), missing)], lines[0])
        code = self._code(formula.codes)
        whens = [(exp.Literal.number(k), line) for k, line in enumerate(lines[:-1], start=1)]
        return case([(exp.Literal.number(0), missing), *whens], lines[-1], code)

    def _line(self, x: Expression, anchor: float, offset: float, slope: float) -> Expression:
        if slope == 0:
            return self._double(offset)
        away = exp.paren(exp.Sub(this=x.copy(), expression=operand(self._double(anchor))))
        rise = exp.Mul(this=self._double(slope), expression=away)
        return rise if offset == 0 else plus(self._double(offset), rise)

    def parabolas(self, formula: Parabolas) -> Expression:
        c = self._c
        x = exp.column(self._inputs[formula.column])
        away = exp.paren(
            exp.Sub(this=x.copy(), expression=operand(self._double(float(formula.center[c]))))
        )
        z = exp.paren(exp.Mul(this=away, expression=self._double(float(formula.factor[c]))))
        square = exp.paren(exp.Mul(this=z, expression=z.copy()))
        fall = exp.Mul(this=operand(self._double(float(formula.weight[c]))), expression=square)
        at = exp.Sub(this=self._double(float(formula.offset[c])), expression=fall)
        return case([(is_null(x), self._double(float(formula.missing[c])))], at)


def _suffix(member: int) -> str:
    return "" if member == 0 else f"_of_{member + 1}"


def _of_source(name: str) -> Expression:
    return exp.Column(this=quoted(name), table=exp.to_identifier(_SOURCE))
