"""Streams: what is kept of rows that come without end."""

from lessnaive.stream.memory import memory_bound
from lessnaive.stream.numbers import NumberSummary
from lessnaive.stream.parameters import STREAM_CONSTRAINTS, StreamParameters
from lessnaive.stream.recent import RecentRows
from lessnaive.stream.statistics import StreamStatistics
from lessnaive.stream.values import KeptValues

__all__ = [
    "STREAM_CONSTRAINTS",
    "KeptValues",
    "NumberSummary",
    "RecentRows",
    "StreamParameters",
    "StreamStatistics",
    "memory_bound",
]
