"""Example tables: one that comes with the package, and a way to get others."""

from lessnaive.datasets.fetching import fetch
from lessnaive.datasets.penguins import load_penguins

__all__ = ["fetch", "load_penguins"]
