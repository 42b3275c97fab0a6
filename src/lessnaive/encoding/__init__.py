"""How values become codes: as they are, in intervals, or in groups."""

from lessnaive.encoding.encodings import Encoding, Groups, Intervals, Values

__all__ = ["Encoding", "Groups", "Intervals", "Values"]
