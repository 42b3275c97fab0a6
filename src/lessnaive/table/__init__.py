"""Tables of any library as typed columns."""

from lessnaive.table.column import Coded, Column, Value
from lessnaive.table.kinds import Kind
from lessnaive.table.reading import Table, read_table
from lessnaive.table.schema import Schema
from lessnaive.table.training import encode_labels, read_weights

__all__ = [
    "Coded",
    "Column",
    "Kind",
    "Schema",
    "Table",
    "Value",
    "encode_labels",
    "read_table",
    "read_weights",
]
