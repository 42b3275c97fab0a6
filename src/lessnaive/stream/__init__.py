"""Tables without an end: learned from in one pass, and judged as they go."""

from lessnaive.stream.baseline import ClassFrequencies
from lessnaive.stream.prequential import CurvePoint, Prequential

__all__ = ["ClassFrequencies", "CurvePoint", "Prequential"]
