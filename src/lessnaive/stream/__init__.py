"""Streams: what is kept of rows that come without end, and how well they are predicted."""

from lessnaive.stream.baseline import ClassFrequencies
from lessnaive.stream.memory import memory_bound
from lessnaive.stream.numbers import NumberSummary
from lessnaive.stream.prequential import CurvePoint, Prequential
from lessnaive.stream.recent import RecentRows
from lessnaive.stream.settings import STREAM_CONSTRAINTS, StreamParameters
from lessnaive.stream.summaries import StreamStatistics
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
