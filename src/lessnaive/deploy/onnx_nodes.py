"""Formulas as nodes of an ONNX graph, wherever these nodes go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from itertools import chain, count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lessnaive.deploy.formulas import (
    InputColumn,
    Member,
    ModelFormulas,
    TermFormula,
    falls_short,
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

__all__ = ["GraphSink", "missing_texts", "scoring_nodes", "unseen_texts"]

# Numbers of types in ONNX, as its TensorProto has them.
_FLOAT, _INT64, _DOUBLE = 1, 7, 11
_INEXACT = 2**53


class GraphSink(Protocol):
    """Where nodes and constants go: a graph of our own, or one of skl2onnx."""

    def node(self, operator: str, inputs: Sequence[str], domain: str = "", **options: Any) -> str:
        """Add a node; return the name of its output."""

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant; return its name."""


def missing_texts(formulas: ModelFormulas) -> dict[str, str]:
    """Return the text that stands for a missing value, for each column of text that is used.

    Text has no missing value in ONNX. It is the empty text, or the first of "(missing)",
    "(missing 2)", ... that is no value of the column.
    """
    return {name: _unused(known, "missing", first="") for name, known in _known(formulas).items()}


def unseen_texts(formulas: ModelFormulas) -> dict[str, str]:
    """Return a text that is no value, for each column of text that is used."""
    return {name: _unused(known, "unseen") for name, known in _known(formulas).items()}


def _known(formulas: ModelFormulas) -> dict[str, set[Any]]:
    """Return the values of each column of text that is used."""
    texts = {place: own.name for place, own in formulas.used_columns() if own.kind is Kind.TEXT}
    known: dict[str, set[Any]] = {name: set() for name in texts.values()}
    terms = (term for member in formulas.members for term in member.terms)
    for codes in (codes for term in terms for codes in term.formula.accept(_CodesOf())):
        if codes.column in texts:
            known[texts[codes.column]].update(codes.accept(_ValuesOf()))
    return known


def _unused(known: set[Any], word: str, first: str | None = None) -> str:
    words = chain([f"({word})" if first is None else first, f"({word})"], count(2))
    named = (own if isinstance(own, str) else f"({word} {own})" for own in words)
    return next(text for text in named if text not in known)


def scoring_nodes(
    formulas: ModelFormulas,
    sink: GraphSink,
    inputs: dict[int, str],
    *,
    rounded: Collection[int],
    single: bool,
) -> tuple[str, str]:
    """Add the nodes that score rows, in double precision.

    Parameters
    ----------
    formulas : ModelFormulas
        The model.
    sink : GraphSink
        Where nodes go.
    inputs : dict of int to str
        By the place of a column the name of a value of shape (n_rows, 1): text, or numbers.
    rounded : collection of int
        The places of columns whose numbers come in single precision.
    single : bool
        Whether probabilities are given in single precision.

    Returns
    -------
    tuple of str
        Names of the place of the predicted class, of shape (n_rows,), and of the probabilities, of
        shape (n_rows, n_classes).
    """
    writer = _Nodes(formulas, sink, inputs, rounded)
    scores = [writer.scores(member) for member in formulas.members]
    shares = [sink.node("Softmax", [name], axis=1) for name in scores]
    if len(shares) > 1:
        weights = [sink.constant(np.array(member.weight)) for member in formulas.members]
        shares = [
            sink.node("Mul", [name, weight]) for name, weight in zip(shares, weights, strict=True)
        ]
    total = reduce(lambda a, b: sink.node("Add", [a, b]), shares)
    best = sink.node("ArgMax", [scores[0] if len(scores) == 1 else total], axis=1, keepdims=0)
    return best, sink.node("Cast", [total], to=_FLOAT) if single else total


class _CodesOf:
    """The codes that a formula looks at."""

    def cells(self, formula: Cells) -> list[Codes]:
        return formula.codes

    def lines(self, formula: Lines) -> list[Codes]:
        return [formula.codes]

    def parabolas(self, formula: Parabolas) -> list[Codes]:
        return []


class _ValuesOf:
    """The values that codes know."""

    def values(self, codes: ValueCodes) -> list[str | int | float]:
        return [value for group in codes.groups for value in group]

    def intervals(self, codes: IntervalCodes) -> list[str | int | float]:
        return []

    def special(self, codes: SpecialCodes) -> list[str | int | float]:
        return []


class _Nodes:
    """Codes and formulas as nodes: a method for each form."""

    def __init__(
        self,
        formulas: ModelFormulas,
        sink: GraphSink,
        inputs: dict[int, str],
        rounded: Collection[int],
    ) -> None:
        self._columns = formulas.columns
        self._missing_texts = missing_texts(formulas)
        self._sink = sink
        self._inputs = inputs
        self._rounded = rounded
        self._known: dict[Any, str] = {}
        for _, column in formulas.used_columns():
            _check_kind(column)

    def scores(self, member: Member) -> str:
        """Add the scores of the classes, in the order in which Python adds."""
        intercept = self._sink.constant(member.intercept[None])
        first, second = (self._sum(terms) for terms in member.sums())
        parts = [intercept, *first]
        total = reduce(self._add, parts)
        return total if not second else self._add(total, reduce(self._add, second))

    def _sum(self, terms: list[TermFormula]) -> list[str]:
        return [term.formula.accept(self) for term in terms]

    def _add(self, first: str, second: str) -> str:
        return self._sink.node("Add", [first, second])

    def _once(self, key: Any, make: Callable[[], str]) -> str:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def _x(self, column: int) -> str:
        """Numbers of a column in double precision."""
        return self._once(
            ("x", column), lambda: self._sink.node("Cast", [self._inputs[column]], to=_DOUBLE)
        )

    def _values(self, column: int, values: Sequence[float]) -> NDArray[np.float64]:
        """Return values that numbers of a column may equal, rounded as these are."""
        exact = np.array(values, dtype=np.float64)
        return exact.astype(np.float32).astype(np.float64) if column in self._rounded else exact

    def _edges(self, column: int, edges: Sequence[float]) -> NDArray[np.float64]:
        """Return edges as the numbers of a column meet them: rounding keeps the order."""
        exact = np.array(edges, dtype=np.float64)
        return _rounded_edges(exact) if column in self._rounded else exact

    def _absent(self, column: int) -> str:
        return self._once(("absent", column), lambda: self._sink.node("IsNaN", [self._x(column)]))

    def _code(self, codes: Codes) -> str:
        """Codes of shape (n_rows,)."""
        return self._once(repr(codes), lambda: codes.accept(self))

    def _integer(self, value: int | Sequence[int]) -> str:
        return self._sink.constant(np.array(value, dtype=np.int64))

    def _flat(self, value: str) -> str:
        return self._sink.node("Reshape", [value, self._integer([-1])])

    def values(self, codes: ValueCodes) -> str:
        """Look values up: text by a dictionary, numbers by comparing them with all."""
        column, unseen = self._columns[codes.column], len(codes.groups) + 1
        pairs = [(v, code) for code, group in enumerate(codes.groups, start=1) for v in group]
        if column.kind is Kind.TEXT:
            known = [(self._missing_texts[column.name], 0), *pairs]
            found = self._sink.node(
                "LabelEncoder",
                [self._inputs[codes.column]],
                domain="ai.onnx.ml",
                keys_strings=[str(value) for value, _ in known],
                values_int64s=[code for _, code in known],
                default_int64=unseen,
            )
            return self._flat(found)
        if any(isinstance(value, int) and abs(value) >= _INEXACT for value, _ in pairs):
            raise ValueError(
                f"Column {column.name!r} has integers from 2**53 on as names, which are no "
                "doubles: convert it to text, and fit the model again."
            )
        levels = self._values(codes.column, [float(value) for value, _ in pairs])
        if len(np.unique(levels)) < len(levels):
            raise ValueError(
                f"Column {column.name!r} has values that are the same in single precision: take "
                "double precision."
            )
        known_levels = self._sink.constant(levels[None])
        equal = self._sink.node("Equal", [self._x(codes.column), known_levels])
        own = self._sink.node(
            "Where", [equal, self._integer([code for _, code in pairs]), self._integer(0)]
        )
        code = self._sink.node("ReduceSum", [own, self._integer([1])], keepdims=0)
        is_none = self._sink.node("Equal", [code, self._integer(0)])
        code = self._sink.node("Where", [is_none, self._integer(unseen), code])
        return self._or_missing(codes.column, code)

    def intervals(self, codes: IntervalCodes) -> str:
        """Count the edges below."""
        edges = self._sink.constant(self._edges(codes.column, codes.edges)[None])
        above = self._sink.node("Greater", [self._x(codes.column), edges])
        ones = self._sink.node("Cast", [above], to=_INT64)
        below = self._sink.node("ReduceSum", [ones, self._integer([1])], keepdims=0)
        return self._or_missing(codes.column, self._add(below, self._integer(1)))

    def special(self, codes: SpecialCodes) -> str:
        """Look for the special values first."""
        code = self.intervals(IntervalCodes(codes.column, codes.edges))
        for number, value in enumerate(codes.special, start=len(codes.edges) + 2):
            level = self._sink.constant(self._values(codes.column, [value]))
            equal = self._flat(self._sink.node("Equal", [self._x(codes.column), level]))
            code = self._sink.node("Where", [equal, self._integer(number), code])
        return code

    def _or_missing(self, column: int, code: str) -> str:
        absent = self._once(("flat", column), lambda: self._flat(self._absent(column)))
        return self._sink.node("Where", [absent, self._integer(0), code])

    def cells(self, formula: Cells) -> str:
        """Look scores up."""
        *sizes, n_classes = formula.scores.shape
        place = self._code(formula.codes[0])
        for codes, size in zip(formula.codes[1:], sizes[1:], strict=True):
            place = self._sink.node("Mul", [place, self._integer(size)])
            place = self._add(place, self._code(codes))
        table = self._sink.constant(formula.scores.reshape(-1, n_classes))
        return self._sink.node("Gather", [table, place], axis=0)

    def lines(self, formula: Lines) -> str:
        """Draw lines: a missing value has a line of its own, at no distance."""
        column, node = formula.codes.column, self._sink.node
        code = self._code(formula.codes)
        flat = np.zeros_like(formula.missing)
        anchors = self._sink.constant(np.array([0.0, *formula.anchors])[:, None])
        offsets = self._sink.constant(np.vstack([formula.missing, formula.offset]))
        slopes = self._sink.constant(np.vstack([flat, formula.slope]))
        away = node("Sub", [self._x(column), node("Gather", [anchors, code], axis=0)])
        zero = self._sink.constant(np.array(0.0))
        away = node("Where", [self._absent(column), zero, away])
        rise = node("Mul", [node("Gather", [slopes, code], axis=0), away])
        return self._add(node("Gather", [offsets, code], axis=0), rise)

    def parabolas(self, formula: Parabolas) -> str:
        """Draw parabolas."""
        node, constant = self._sink.node, self._sink.constant
        away = node("Sub", [self._x(formula.column), constant(formula.center[None])])
        z = node("Mul", [away, constant(formula.factor[None])])
        fall = node("Mul", [constant(formula.weight[None]), node("Mul", [z, z])])
        score = node("Sub", [constant(formula.offset[None]), fall])
        missing = constant(formula.missing[None])
        return node("Where", [self._absent(formula.column), missing, score])


def _rounded_edges(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges in single precision.

    Of two numbers that are as near it is the lower one: an edge in the middle of them, as of large
    integers, stays below the second. So does one below the decimal that it is as good as.
    """
    near = edges.astype(np.float32)
    lower = np.nextafter(near, np.float32(-np.inf)).astype(np.float64)
    near = near.astype(np.float64)
    is_lower = (near > edges) & (near - edges == edges - lower)
    is_lower |= np.fromiter(map(falls_short, edges.tolist()), dtype=bool, count=len(edges))
    return np.where(is_lower, lower, near)


def _check_kind(column: InputColumn) -> None:
    if column.kind in (Kind.MIXED, Kind.EMPTY):
        raise ValueError(
            f"Column {column.name!r} held {column.kind.plural} when the model was fitted, which no "
            "tensor does: convert it to text or numbers, and fit the model again."
        )
