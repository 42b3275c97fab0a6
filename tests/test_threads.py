"""Model files are the same, byte for byte, for any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from lessnaive import models
from lessnaive.models.base import OneBlasThread

threadpoolctl = pytest.importorskip("threadpoolctl")


def digests(threads: int) -> subprocess.Popen[str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(threads)), "OMP_WAIT_POLICY": "passive"}
    program = str(Path(__file__).with_name("thread_models.py"))
    return subprocess.Popen(
        [sys.executable, program], env=environment, stdout=subprocess.PIPE, text=True
    )


def test_files_of_all_models_with_one_and_two_threads():
    runs = [digests(1), digests(2)]
    one, two = (run.communicate()[0].splitlines() for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert one == two
    assert {line.split(":")[0] for line in one} >= set(models.__all__)


def blas_threads() -> list[int]:
    pools = threadpoolctl.threadpool_info()
    return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]


def test_threads_are_given_back_by_the_last_that_leaves():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        inside, leave = threading.Event(), threading.Event()

        def stay() -> None:
            with OneBlasThread():
                inside.set()
                leave.wait()

        other = threading.Thread(target=stay)
        with OneBlasThread():
            other.start()
            inside.wait()
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
        leave.set()
        other.join()
        assert blas_threads() == before


def test_threads_are_given_back_after_an_error():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="one class only"):
            models.HybridLRNB().fit(np.zeros((4, 1)), [1, 1, 1, 1])
        assert blas_threads() == before
