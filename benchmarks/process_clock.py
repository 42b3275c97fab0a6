"""What a run takes: seconds, CPU seconds and memory of a process and all its children."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections import defaultdict
from pathlib import Path

# Seconds between two looks at the memory of all processes.
_LOOK = 0.1


class ProcessClock:
    """Time since the start, which a cluster sets back once its workers are there.

    The largest resident size of any one process is looked for by a thread, and what that takes is
    not counted: to look at all processes costs milliseconds, and more where there are workers.
    """

    def __init__(self) -> None:
        self._looking = 0.0  # CPU seconds of the thread that looks
        self._stopped: tuple[float, float] | None = None
        self.peak = self.own_peak = 0
        self.start()

    def watch(self) -> None:
        """Look at the memory from now on, for as long as the process lives."""
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            for pid in [os.getpid(), *_descendants(os.getpid())]:
                resident, own = _memory_of(pid)
                self.peak, self.own_peak = max(self.peak, resident), max(self.own_peak, own)
            self._looking = time.thread_time()
            time.sleep(_LOOK)

    def start(self) -> None:
        """Begin anew."""
        self._wall, self._cpu = time.perf_counter(), self._cpu_now()
        self._stopped = None

    def stop(self) -> None:
        """End here, whatever comes after."""
        self._stopped = self._read()

    def read(self) -> tuple[float, float]:
        """Return seconds and CPU seconds, up to the end if there was one."""
        return self._stopped or self._read()

    def _read(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, self._cpu_now() - self._cpu

    def _cpu_now(self) -> float:
        """CPU seconds of this process and of its children, dead or alive."""
        own = time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        return own + sum(map(_cpu_of, _descendants(os.getpid()))) - self._looking


def _fields(pid: int | str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _descendants(pid: int) -> list[int]:
    children = defaultdict(list)
    for name in os.listdir("/proc"):
        fields = _fields(name) if name.isdigit() else []
        if fields:
            children[int(fields[1])].append(int(name))
    out, waiting = [], [pid]
    while waiting:
        found = children[waiting.pop()]
        out += found
        waiting += found
    return out


def _cpu_of(pid: int) -> float:
    """CPU seconds of a process and of those of its children that are dead."""
    fields = _fields(pid)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _memory_of(pid: int) -> tuple[int, int]:
    """Resident bytes of a process: all of them, and those that are its own and not of a file."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0, 0
    found = dict(line.split()[:2] for line in lines if line.startswith(("VmRSS", "RssAnon")))
    return int(found.get("VmRSS:", 0)) * 1024, int(found.get("RssAnon:", 0)) * 1024
