"""Time that does not depend on what else the machine is doing."""

from __future__ import annotations

import os
from time import process_time

__all__ = ["cpu_seconds"]


def cpu_seconds() -> float:
    """Processor time of this process, and of the programs that it has run to their end."""
    others = os.times()
    return process_time() + others.children_user + others.children_system
