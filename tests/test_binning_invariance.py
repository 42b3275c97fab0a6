"""What must not matter to supervised binning, and columns that break weaker code."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from binning_cases import Case, planted_intervals, small_case
from lessnaive import MDLPDiscretizer, MODLEncoder, _core

METHODS = pytest.mark.parametrize("modl", [True, False], ids=["MODL", "MDLP"])
# Short columns are partitioned exactly; the way of long ones is forced upon them by the second.
WAYS = pytest.mark.parametrize("exact_parts", [512, 1], ids=["exact", "greedy"])


def codes_and_cost(
    x: Any, y: Any, weights: Any, classes: int, modl: bool, exact_parts: int = 512
) -> tuple[list[int], float]:
    """Bin of each row and the cost of all of them."""
    found = _core.discretize([x], y, weights, classes, modl, False, exact_parts)[0]
    codes = np.empty(len(x), dtype=np.uint32)
    _core.digitize(x, np.array(found[0]), codes)
    return codes.tolist(), found[3]


def grid_cases(seed: int, number: int = 40) -> list[Case]:
    """Cases whose values are whole numbers, without gaps and weights of 0."""
    rng = np.random.default_rng(seed)
    found = [small_case(rng) for _ in range(number)]
    for case in found:
        case.x = np.nan_to_num(case.x, nan=5.0)
        if case.weights is not None:
            case.weights[case.weights == 0] = 1.0
    return found


INCREASING = {
    "exp": np.exp,
    "cube": lambda x: (x - 20) ** 3,
    "affine": lambda x: 1e-7 * x - 123.0,
    "ranks": lambda x: np.unique(x, return_inverse=True)[1].astype(float),
    "huge": lambda x: (x - 20) * 8e306,
    "denormal": lambda x: (x - 20) * 5e-324,
    "neighbours": lambda x: 1.0 + x * np.finfo(float).eps,
}


@METHODS
@WAYS
@pytest.mark.parametrize("transform", INCREASING.values(), ids=INCREASING)
def test_increasing_transforms(modl, exact_parts, transform):
    for case in grid_cases(0):
        rest = case.y, case.weights, case.classes, modl, exact_parts
        assert codes_and_cost(transform(case.x), *rest) == codes_and_cost(case.x, *rest)


@METHODS
@WAYS
def test_the_order_of_rows(modl, exact_parts):
    rng = np.random.default_rng(1)
    for case in grid_cases(1):
        whole = None if case.weights is None else np.ceil(case.weights)
        order = rng.permutation(len(case.x))
        expected = codes_and_cost(case.x, case.y, whole, case.classes, modl, exact_parts)
        moved = None if whole is None else whole[order]
        found = codes_and_cost(case.x[order], case.y[order], moved, case.classes, modl, exact_parts)
        assert found == ([expected[0][i] for i in order], expected[1])


@METHODS
@WAYS
def test_weight_2_is_the_row_twice_and_weight_0_no_row(modl, exact_parts):
    rng = np.random.default_rng(2)
    for case in grid_cases(2):
        times = rng.integers(0, 4, len(case.x))
        times[0] = 1
        again = np.repeat(np.arange(len(case.x)), times)
        rest = case.classes, modl, exact_parts
        codes, cost = codes_and_cost(case.x, case.y, times.astype(float), *rest)
        repeated, repeated_cost = codes_and_cost(case.x[again], case.y[again], None, *rest)
        assert [codes[i] for i in again] == repeated
        assert cost == pytest.approx(repeated_cost, rel=1e-12)


@METHODS
@WAYS
def test_weights_of_1_are_no_weights(modl, exact_parts):
    """Two classes without weights have a search of their own, which passes over most rows."""
    rng = np.random.default_rng(7)
    for n in (63, 64, 65, 129, 1_000, 5_000, 30_000):
        for decimals in (0, 1, 2, 9):
            x = np.round(rng.normal(size=n), decimals)
            y = (rng.random(n) < 0.5 + 0.4 * np.sin(rng.uniform(1, 9) * x)).astype(int)
            found = codes_and_cost(x, y, None, 2, modl, exact_parts)
            assert found == codes_and_cost(x, y, np.ones(n), 2, modl, exact_parts)


def test_weight_2_is_the_row_twice_in_a_long_column():
    rng = np.random.default_rng(3)
    case = planted_intervals(rng, 20_000, 3, 6)
    twice = np.tile(np.arange(20_000), 2)
    once, cost = codes_and_cost(case.x, case.y, np.full(20_000, 2.0), 3, True)
    repeated, repeated_cost = codes_and_cost(case.x[twice], case.y[twice], None, 3, True)
    assert repeated[:20_000] == repeated[20_000:] == once
    assert cost == pytest.approx(repeated_cost, rel=1e-12)


@METHODS
@pytest.mark.parametrize("dtype", [*np.typecodes["AllInteger"], "f", "d"])
def test_types_of_numbers(modl, dtype):
    for case in grid_cases(4, 10):
        x = case.x.astype(dtype)
        assert codes_and_cost(x, case.y, None, case.classes, modl) == codes_and_cost(
            case.x, case.y, None, case.classes, modl
        )


@pytest.mark.parametrize("encoder", [MODLEncoder, MDLPDiscretizer])
def test_big_endian_and_strided_columns(encoder):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 200)
    X = rng.normal(y[:, None], 1, (200, 4))
    expected = encoder().fit(X[:, ::2].copy(), y).transform(X[:, ::2].copy())
    for view in (X[:, ::2], np.asfortranarray(X)[:, ::2], X[:, ::2].astype(">f8")):
        np.testing.assert_array_equal(encoder().fit(view, y).transform(view), expected)


@METHODS
@pytest.mark.parametrize("classes", [2, 5, 30])
@pytest.mark.parametrize("distinct", [1, 2, 3])
def test_few_distinct_values(modl, classes, distinct):
    n = 600
    x = (np.arange(n) % distinct).astype(float)
    y = x.astype(int) % classes
    y[:classes] = np.arange(classes)
    codes, _ = codes_and_cost(x, y, None, classes, modl)
    assert len(set(codes)) == distinct


@METHODS
@pytest.mark.parametrize("edge", [[-1e308, 1e308], [-5e-324, 0.0, 5e-324], [0.1, 0.1 + 2**-56]])
def test_cuts_between_numbers_at_the_end_of_the_line(modl, edge):
    x = np.repeat(edge, 100)
    y = np.repeat(np.arange(len(edge)), 100)
    edges = np.array(_core.discretize([x], y, None, len(edge), modl, False)[0][0])
    assert np.isfinite(edges).all()
    assert codes_and_cost(x, y, None, len(edge), modl)[0] == (y + 1).tolist()


def test_zero_has_no_sign():
    x = np.tile([0.0, -0.0], 50)
    for modl in (True, False):
        assert set(codes_and_cost(x, np.arange(100) % 2, None, 2, modl)[0]) == {1}


@METHODS
def test_a_million_distinct_values(modl):
    rng = np.random.default_rng(6)
    x = rng.permutation(1_000_000).astype(float)
    y = ((x > 300_000) ^ (rng.random(1_000_000) < 0.3)).astype(int)
    start = time.perf_counter()
    edges = _core.discretize([x], y, None, 2, modl, False)[0][0]
    assert time.perf_counter() - start < 30.0  # about half a second
    assert len(edges) == 1
    assert edges[0] == pytest.approx(300_000, abs=100)


RUN = """
import sys
import numpy as np
from lessnaive import MDLPDiscretizer, MODLEncoder, NaiveBayes
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 10_000)
X = rng.normal(y[:, None] / 3, 1, (10_000, 8))
X[::7, 3] = np.nan
for encoder in (MODLEncoder(), MDLPDiscretizer()):
    encoder.fit(X, y)
    print([cuts.tolist() for cuts in encoder.cuts_], getattr(encoder, "cost_", None))
text = np.char.mod("%d", np.floor(3 * np.nan_to_num(X))).astype(object)
print(MODLEncoder().fit(text, y).groups_)
model = NaiveBayes(numeric="modl", missing="category").fit(X, y)
print(model.predict_proba(X[:1000]).tolist())
"""


def test_the_number_of_threads():
    printed = [
        subprocess.run(
            [sys.executable, "-c", RUN],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert printed[0]
    assert printed[0] == printed[1]


MEASURE = """
import sys
import numpy as np
from lessnaive import MDLPDiscretizer, MODLEncoder

def kilobytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

name, gaps, weighted, rows = sys.argv[1], sys.argv[2] == "gaps", sys.argv[3], 2_000_000
encoder = MODLEncoder() if name == "MODL" else MDLPDiscretizer()
rng = np.random.default_rng(0)
x = rng.normal(size=rows)
y = (rng.random(rows) < 1 / (1 + np.exp(-np.round(x)))).astype(int)
if gaps:
    x[rng.random(rows) < 0.3] = np.nan
weights = {"none": None, "whole": rng.integers(1, 3, rows).astype(float)}[weighted]
encoder.fit(np.arange(100.0)[:, None], np.arange(100) % 2)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak starts from what is in use now
before = kilobytes("VmRSS")
encoder.fit(x[:, None], y, weights)
print(1024 * (kilobytes("VmHWM") - before) / rows)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("name", "gaps", "weights"),
    [
        ("MODL", "no gaps", "none"),
        ("MODL", "gaps", "whole"),
        ("MDLP", "no gaps", "none"),
        ("MDLP", "no gaps", "whole"),
    ],
)
def test_memory(name, gaps, weights):
    """At most 40 bytes per row; 25 to 35 are measured, of which 8 are a table of logarithms."""
    # With this, freed blocks go back at once, and what is measured is what is in use.
    returned = {"MALLOC_MMAP_THRESHOLD_": "65536"}
    out = subprocess.run(
        [sys.executable, "-c", MEASURE, name, gaps, weights],
        env={**os.environ, "OMP_NUM_THREADS": "1", **returned},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert 12.0 < float(out) <= 40.0


def test_nullable_numbers():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 300)
    x = np.round(rng.normal(3 * y, 1))
    x[rng.random(300) < 0.2] = np.nan
    plain, nullable = pd.DataFrame({"x": x}), pd.DataFrame({"x": pd.array(x, dtype="Int64")})
    for encoder in (MODLEncoder, MDLPDiscretizer):
        expected = encoder().fit(plain, y).transform(plain)
        np.testing.assert_array_equal(encoder().fit(nullable, y).transform(nullable), expected)
