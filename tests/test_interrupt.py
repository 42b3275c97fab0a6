"""Ctrl-C ends what the core is doing, however long it would have taken."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from lessnaive import models

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


# Evaluates a model on the command line, in a hundred folds so that none is done before the signal.
_COMMAND = """
import contextlib, io, os, signal, sys, threading, time
from lessnaive.cli.running import run

command = ["--target", "y", "--model", sys.argv[1], "--cv"]
with contextlib.redirect_stdout(io.StringIO()):
    run(["evaluate", "small.csv", *command, "2"])  # imports all that is needed
sent = []

def interrupt():
    sent.append((time.perf_counter(), time.process_time()))
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(1.5, interrupt).start()
status = run(["evaluate", "large.csv", *command, "100"])
(wall, cpu), = sent
print(status, time.perf_counter() - wall, time.process_time() - cpu)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 300)).round(3)
    table = pd.DataFrame(X).add_prefix("x")
    table["text"] = rng.choice(list("abcdefgh"), len(X))
    table["y"] = (X[:, :20].sum(axis=1) + 3 * rng.normal(size=len(X)) > 0).astype(int)
    table.to_csv(folder / "large.csv", index=False)
    table[["x0", "x1", "text", "y"]].head(40).to_csv(folder / "small.csv", index=False)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="no process can send itself SIGINT there")
@pytest.mark.parametrize("model", models.__all__)
def test_ctrl_c_ends_a_command_with_any_model_within_a_second(model, folder):
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, model],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    status, wall, cpu = map(float, done.stdout.split())
    assert status == 130
    assert cpu < 1.0
    assert wall < 10.0  # other processes may have kept it waiting


# Fits models side by side, and ends as any program does that does not catch KeyboardInterrupt.
_SIDE_BY_SIDE = """
import os, signal, sys, threading
import numpy as np
import lessnaive

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 40))
y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=6000) > 0).astype(int) + (X[:, 3] > 1)
model = getattr(lessnaive, sys.argv[1])(n_jobs=2).fit(X[:300], y[:300])  # imports what it needs
threading.Timer(float(sys.argv[2]), os.kill, (os.getpid(), signal.SIGINT)).start()
model.fit(X, y)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process can send itself SIGINT there")
@pytest.mark.parametrize("seconds", ["0.2", "1"])
@pytest.mark.parametrize("model", ["LessNaiveClassifier", "NBLogisticCV"])
def test_ctrl_c_ends_threads_before_the_process(model, seconds):
    """A thread that was still in the core when the interpreter ended aborted the process."""
    done = subprocess.run(
        [sys.executable, "-c", _SIDE_BY_SIDE, model, seconds],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    # With a colon if the fit had ended before, and the process was about to.
    assert done.stderr.splitlines()[-1].startswith("KeyboardInterrupt"), done.stderr
    assert "terminate called" not in done.stderr
