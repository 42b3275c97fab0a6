"""Streams take no more memory than is stated, however long they are."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lessnaive import NaiveBayes
from lessnaive.stream import memory_bound

VALUE = sys.getsizeof("value 123456789")


def batches(n_rows: int, batch: int, seed: int = 0):
    """Batches of five numeric columns, from few to only distinct values, and two of text."""
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, batch):
        y = rng.integers(0, 3, batch)
        x = rng.normal(size=(batch, 5)) + y[:, None]
        x[:, 1] = np.round(x[:, 1] * 100)
        x[:, 2] = np.arange(start, start + batch)
        x[:, 3] *= 10.0 ** rng.integers(-9, 9, batch)
        x[rng.random(x.shape) < 0.1] = np.nan
        frame = pd.DataFrame(x, columns=list("abcde"))
        ids = np.arange(start, start + batch)
        frame["id"] = pd.Series([f"value {i}" for i in ids.tolist()], dtype=object)
        often = np.minimum(rng.zipf(1.2, batch), 10**9)
        frame["often"] = pd.Series([f"value {i}" for i in often.tolist()], dtype=object)
        yield frame, y


@pytest.mark.parametrize(("size", "most"), [(100, 50), (1000, 1000)])
def test_half_a_million_rows_stay_below_the_bound(size, most):
    model = NaiveBayes(numeric="modl", summary_size=size, max_values=most)
    bound = memory_bound(
        5, 2, 3, summary_size=size, max_values=most, value_bytes=VALUE, n_rows=500_000
    )
    sizes = []
    for number, (frame, y) in enumerate(batches(500_000, 10_000)):
        model.partial_fit(frame, y)
        if number in (4, 9, 19, 49):
            sizes.append(model._stream.n_bytes())
    assert max(sizes) <= bound
    assert sizes[-1] < 2 * sizes[0]
    assert sizes[-1] > bound / 10


def test_the_bound_does_not_grow_with_the_rows_for_ever():
    assert memory_bound(3, 2, 2) == memory_bound(3, 2, 2, n_rows=2**53)
    assert memory_bound(3, 2, 2) < 6 * memory_bound(3, 2, 2, n_rows=10_000)
    one = memory_bound(1, 0, 2, summary_size=500)
    assert memory_bound(7, 0, 2, summary_size=500) == 7 * one


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at the memory of a process")
def test_ten_million_rows():
    """What is kept is below the bound, and the process no larger at the end than at a tenth."""
    code = """
        import resource, sys
        from lessnaive import NaiveBayes
        from lessnaive.stream import memory_bound
        from test_stream_memory import VALUE, batches

        def megabytes():
            with open("/proc/self/status") as status:
                [line] = [line for line in status if line.startswith("VmRSS")]
            return int(line.split()[1]) / 1024

        n_rows = 10_000_000
        model = NaiveBayes(numeric="modl", categorical="modl")
        bound = memory_bound(5, 2, 3, value_bytes=VALUE, n_rows=n_rows)
        for number, (frame, y) in enumerate(batches(n_rows, 20_000)):
            if number % 10 == 0:
                model.predict_proba(frame) if number else None
                assert not number or model._stream.n_bytes() <= bound
            model.partial_fit(frame, y)
            if number == 50:
                early = megabytes()
        late, kept = megabytes(), model._stream.n_bytes()
        print(f"kept {kept / 1e6:.2f} MB of {bound / 1e6:.2f} MB; {early:.0f} MB, {late:.0f} MB")
        assert kept <= bound
        assert late - early < 20, (early, late)
        assert model._stream.seen == n_rows
    """
    tests = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": tests}
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=environment, check=True)
