"""Tables in parts: bigger than memory, or on many machines."""

from lessnaive.parts.batches import fit_batches
from lessnaive.parts.options import options

__all__ = ["fit_batches", "options"]
