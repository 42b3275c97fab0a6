"""The display of prequential curves: what is drawn, and from what."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from lessnaive.plot import PrequentialDisplay
from lessnaive.stream import CurvePoint, Prequential

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def prequential():
    rng = np.random.default_rng(0)
    out = Prequential(window=30)
    for _ in range(20):
        out.update(rng.integers(0, 2, size=10), rng.dirichlet([1, 1], size=10), [0, 1])
    return out


def heights(lines, name):
    return lines[name].get_ydata().tolist()


def test_what_is_drawn(prequential):
    display = PrequentialDisplay.from_curves({"one": prequential, "two": prequential.curve[:5]})
    rows = [point.n_rows for point in prequential.curve]
    for place, measure in enumerate(("accuracy", "log_loss")):
        overall = [getattr(point, measure) for point in prequential.curve]
        recent = [getattr(point, f"recent_{measure}") for point in prequential.curve]
        assert display.recent_[place]["one"].get_xdata().tolist() == rows
        assert heights(display.recent_[place], "one") == recent
        assert heights(display.recent_[place], "two") == recent[:5]
        assert heights(display.overall_[place], "one") == overall
        one, two = (display.recent_[place][name].get_color() for name in ("one", "two"))
        assert tuple(one) != tuple(two)
        assert tuple(display.overall_[place]["one"].get_color()) == tuple(one)
    assert [ax.get_ylabel() for ax in display.axes_] == ["accuracy", "log-loss"]
    assert [ax.get_xlabel() for ax in display.axes_] == ["rows", "rows"]
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert texts == ["one", "two", "all rows so far"]


def test_tables_and_single_curves_are_drawn_alike(prequential):
    expected = PrequentialDisplay.from_curves(prequential).curves["model"]
    frame = pd.DataFrame(prequential.curve, columns=list(CurvePoint._fields))
    drawn = PrequentialDisplay.from_curves({"model": frame}).curves["model"]
    for name in CurvePoint._fields:
        np.testing.assert_array_equal(drawn[name], expected[name])


def test_own_axes_and_recent_measures_alone(prequential):
    axes = plt.subplots(2, 1)[1]
    display = PrequentialDisplay.from_curves({"m": prequential}, overall=False, axes=axes)
    assert display.overall_ == [{}, {}]
    assert len(axes[0].lines) == 1
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["m"]
    with pytest.raises(ValueError, match="2 axes are needed, got 1"):
        display.plot(axes=axes[:1])


def test_no_points_yet():
    display = PrequentialDisplay.from_curves(Prequential())
    assert display.recent_[0]["model"].get_xdata().size == 0


def test_what_is_no_curve():
    with pytest.raises(TypeError, match="a curve must be"):
        PrequentialDisplay.from_curves({"m": {"n_rows": [1]}})
    with pytest.raises(TypeError, match="a curve must be"):
        PrequentialDisplay.from_curves({"m": 3})
