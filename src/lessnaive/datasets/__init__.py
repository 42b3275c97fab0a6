"""Example tables: one that comes with the package, and a way to get others."""

from lessnaive.datasets.catalogue import TableInfo, available
from lessnaive.datasets.loading import load
from lessnaive.datasets.penguins import load_penguins

__all__ = ["TableInfo", "available", "load", "load_penguins"]
