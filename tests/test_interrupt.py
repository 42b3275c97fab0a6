"""Ctrl-C ends what the core is doing, however long it would have taken."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Prints how long it took from the signal to the exception, on the clock and in the process.
_PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
from lessnaive import NBLogisticCV, _core

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 1500))
y = (X[:, :20].sum(axis=1) + rng.normal(size=3000) > 0).astype(int)
hessian = X[:750].T @ X[:750] + 1e-6 * np.eye(1500)
counts = rng.integers(1, 1000, (3000, 20)).astype(float)
works = {
    "fit": lambda: NBLogisticCV().fit(X, y),
    "solve": lambda: _core.solve_quadratic(
        hessian, rng.normal(size=1500), np.zeros(1500), np.full(1500, -1.0), np.full(1500, 1.0),
        1.0, 0.0, 0.0, 10**6, np.zeros(1500)),
    "group": lambda: _core.group([counts] * 50),
}
sent = []

def interrupt():
    sent.append((time.perf_counter(), time.process_time()))
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(float(sys.argv[2]), interrupt).start()
try:
    works[sys.argv[1]]()
    print("ended before the signal")
except KeyboardInterrupt:
    (wall, cpu), = sent
    print(time.perf_counter() - wall, time.process_time() - cpu)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process can send itself SIGINT there")
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("work", ["fit", "solve", "group"])
def test_ctrl_c_ends_long_work_within_a_second(work, threads):
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, work, "2"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": "1"},
    )
    wall, cpu = map(float, done.stdout.split())
    assert cpu < 1.0 * int(threads)
    assert wall < 10.0  # other processes may have kept it waiting
