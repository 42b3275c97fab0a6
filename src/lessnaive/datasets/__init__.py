"""Example tables: one that comes with the package, and a way to get others."""

from lessnaive.datasets.catalogue import TableInfo, available
from lessnaive.datasets.loading import load
from lessnaive.datasets.penguins import load_penguins

#: The name that :func:`load` had before.
fetch = load

__all__ = ["TableInfo", "available", "load", "load_penguins"]
