"""Tables without an end: learned from in one pass and in bounded memory, and judged as they go."""

from lessnaive.stream.baseline import ClassFrequencies
from lessnaive.stream.memory import memory_bound
from lessnaive.stream.numbers import NumberSummary
from lessnaive.stream.parameters import STREAM_CONSTRAINTS, StreamParameters
from lessnaive.stream.prequential import CurvePoint, Prequential
from lessnaive.stream.recent import RecentRows
from lessnaive.stream.statistics import StreamStatistics
from lessnaive.stream.values import KeptValues

__all__ = [
    "STREAM_CONSTRAINTS",
    "ClassFrequencies",
    "CurvePoint",
    "KeptValues",
    "NumberSummary",
    "Prequential",
    "RecentRows",
    "StreamParameters",
    "StreamStatistics",
    "memory_bound",
]
