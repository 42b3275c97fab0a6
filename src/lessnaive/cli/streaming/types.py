"""Which columns a stream has, and of which types they are from the first row to the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa

from lessnaive.cli.errors import InputError
from lessnaive.plain import Node, shown

__all__ = ["Columns", "Types", "plural", "usual_type"]

Types = dict[str, pa.DataType | None]

_NUMBER, _WHOLE = pa.float64(), pa.int64()
_TYPES = {
    str(kind): kind
    for kind in (
        *(_NUMBER, _WHOLE, pa.bool_(), pa.string(), pa.duration("us")),
        *(pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")),
    )
}
_PLURALS = {_NUMBER: "numbers", _WHOLE: "whole numbers", pa.bool_(): "true and false"}


def usual_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type that a column is read as, given what it looks like; None if it is empty."""
    if pa.types.is_null(kind):
        return None
    if pa.types.is_dictionary(kind):
        return pa.string()
    if pa.types.is_boolean(kind):
        return pa.bool_()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _NUMBER
    if pa.types.is_date(kind):
        return pa.timestamp("us")
    if pa.types.is_timestamp(kind):
        unit = "ns" if kind.unit == "ns" else "us"
        return pa.timestamp(unit, None if kind.tz is None else "UTC")
    if pa.types.is_duration(kind):
        return pa.duration("us")
    return pa.string()  # a time of day too: midnight lies between 23:59 and 00:01


def plural(kind: pa.DataType) -> str:
    """Return what a column of a type holds, as it reads in a message."""
    if pa.types.is_timestamp(kind):
        return "dates"
    if pa.types.is_duration(kind):
        return "durations"
    return _PLURALS.get(kind, "text")


@dataclass
class Columns:
    """The columns of a stream, as its first rows have them.

    Attributes
    ----------
    target : str
        The column with the classes.
    weight : str or None
        The column with the weights.
    types : dict of str to DataType or None
        The type of each column, the target and the weights among them; None where no row had a
        value yet.
    """

    target: str
    weight: str | None
    types: Types

    @classmethod
    def of(cls, schema: pa.Schema, target: str, weight: str | None, text: Sequence[str]) -> Columns:
        """Return the columns of a first table, given what it looks like.

        Parameters
        ----------
        schema : pyarrow.Schema
            The table, without the columns that are left out.
        target : str
            The column with the classes.
        weight : str or None
            The column with the weights.
        text : sequence of str
            Columns whose values are names, whatever they look like: a later row may hold a word.

        Returns
        -------
        Columns
        """
        types: Types = {}
        for field in schema:
            types[field.name] = pa.string() if field.name in text else usual_type(field.type)
        whole = pa.types.is_integer(schema.field(target).type)
        found = _WHOLE if whole else types[target]
        is_label = found is None or found in (_NUMBER, _WHOLE, pa.bool_())
        types[target] = found if is_label else pa.string()
        if weight is not None:
            types[weight] = _NUMBER
        return cls(target, weight, types)

    @property
    def features(self) -> list[str]:
        """The columns to learn from."""
        return [name for name in self.types if name not in (self.target, self.weight)]

    def settle(self, table: pa.Table) -> pa.Table:
        """Give a table the types of the columns; the first values of a column decide its type."""
        arrays = []
        for name, kind in self.types.items():
            column = table.column(name)
            if kind is None:
                kind = self.types[name] = self._first_type(name, column.type)
            arrays.append(column if kind is None else column.cast(kind))
        return pa.table(arrays, names=list(self.types))

    def _first_type(self, name: str, kind: pa.DataType) -> pa.DataType | None:
        if name == self.target and pa.types.is_integer(kind):
            return _WHOLE
        return usual_type(kind)

    def check(self, names: Sequence[str], table: str) -> None:
        """Make sure that a table has all the columns."""
        absent = [name for name in self.types if name not in names]
        if absent:
            raise InputError(
                f"{table} has no column {absent[0]!r}, which the first table has: add it (missing "
                "values are fine)."
            )

    def to_plain(self) -> dict[str, Any]:
        """Return the columns as plain data."""
        types = {name: None if kind is None else str(kind) for name, kind in self.types.items()}
        return {"target": self.target, "weight": self.weight, "types": types}

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return what :meth:`to_plain` wrote; ModelFormatError if it did not write this."""
        fields = node.record("target", "weight", "types")
        weight = None if fields["weight"].is_null() else fields["weight"].text()
        entries: Mapping[str, Node] = fields["types"].entries()
        types = {
            name: None if entry.is_null() else _TYPES[entry.choice(_TYPES)]
            for name, entry in entries.items()
        }
        target = fields["target"].text()
        for name in (target, weight):
            if name is not None and name not in types:
                raise fields["types"].error(f"the column {shown(name)} is missing")
        return cls(target, weight, types)
