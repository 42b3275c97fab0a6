"""Displays: what is drawn, where, and that it can be read."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from lessnaive import GroupLassoNB, MDLPDiscretizer, MODLEncoder, NaiveBayes, StagewiseNB
from lessnaive.datasets import load_penguins
from lessnaive.plot import BinningDisplay, GroupPathDisplay, StagewisePathDisplay

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


COUNTS = np.array([[8.0, 2.0], [1.0, 3.0], [0.0, 6.0]])


def display() -> BinningDisplay:
    return BinningDisplay(column="x", labels=["a", "b", "c"], counts=COUNTS, classes=["no", "yes"])


def test_bars_counts_and_evidence_by_hand():
    shown = display().plot()
    heights = np.array([[bar.get_height() for bar in bars] for bars in shown.bars_])
    np.testing.assert_allclose(heights, [[0.8, 0.25, 0.0], [0.2, 0.75, 1.0]])
    bottoms = [[bar.get_y() for bar in bars] for bars in shown.bars_]
    np.testing.assert_allclose(bottoms, [[0, 0, 0], [0.8, 0.25, 0.0]])
    assert [text.get_text() for text in shown.counts_] == ["10", "4", "6"]
    # log p(bin | yes) / p(bin | no), each with a pseudo-count of 1 shared by the three bins
    expected = [
        math.log((yes + 1 / 3) / 12) - math.log((no + 1 / 3) / 10) for no, yes in COUNTS.tolist()
    ]
    np.testing.assert_allclose(shown.line_.get_ydata(), expected)
    np.testing.assert_array_equal(shown.line_.get_xdata(), [0, 1, 2])


def test_everything_has_a_name():
    shown = display().plot(class_="no")
    assert shown.ax_.get_xlabel() == "x"
    assert shown.ax_.get_ylabel() == "share of each class"
    assert shown.evidence_ax_.get_ylabel() == "weight of evidence for no"
    assert [tick.get_text() for tick in shown.ax_.get_xticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in shown.legend_.get_texts()] == ["no", "yes"]
    assert shown.figure_ is shown.ax_.figure


def test_evidence_is_for_the_class_asked_for():
    shown = display().plot()
    last = shown.line_.get_ydata()
    first = shown.plot(class_="no").line_.get_ydata()
    np.testing.assert_allclose(first, -last)
    three = BinningDisplay(
        column="x", labels=["a"], counts=[[1.0, 2.0, 3.0]], classes=np.array([0, 1, 2])
    )
    assert three.plot().evidence_ax_.get_ylabel() == "weight of evidence for 2"
    assert three.plot(class_=1).evidence_ax_.get_ylabel() == "weight of evidence for 1"
    with pytest.raises(ValueError, match=r"class_ must be one of the classes \[0, 1, 2\], got 7"):
        three.plot(class_=7)


def test_it_draws_into_the_axes_given():
    figure, (left, right) = plt.subplots(1, 2)
    shown = display().plot(ax=right)
    assert shown.ax_ is right
    assert shown.figure_ is figure
    assert not left.patches
    assert len(plt.get_fignums()) == 1


def test_colours():
    shown = display().plot(cmap="viridis")
    colours = [bars[0].get_facecolor() for bars in shown.bars_]
    expected = mpl.colormaps["viridis"]([0.0, 1.0])
    np.testing.assert_allclose(colours, expected)
    many = BinningDisplay(
        column="x", labels=["a"], counts=[[1.0] * 30], classes=np.arange(30)
    ).plot()
    assert len({bars[0].get_facecolor() for bars in many.bars_}) == 30


@pytest.mark.parametrize("encoder", [MODLEncoder(), MDLPDiscretizer()], ids=repr)
def test_penguins(encoder):
    X, y = load_penguins()
    X = X[["bill_length_mm", "bill_depth_mm"]]
    encoder.fit(X, y)
    shown = BinningDisplay.from_estimator(encoder, "bill_length_mm", class_="Gentoo")
    table = encoder.binning_table("bill_length_mm", "pandas")
    assert shown.column == "bill_length_mm"
    assert shown.labels == table["bin"].tolist()
    for name, bars in zip(encoder.classes_, shown.bars_, strict=True):
        np.testing.assert_allclose([bar.get_height() for bar in bars], table[f"p[{name}]"])
    np.testing.assert_allclose(shown.line_.get_ydata(), table["woe[Gentoo]"])
    by_place = BinningDisplay.from_estimator(encoder, 0)
    assert by_place.column == "bill_length_mm"


def long_names() -> MODLEncoder:
    """Twelve groups of names that are too long to stand side by side, and gaps."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 60, 30_000)
    y = rng.random(30_000) < np.linspace(0.02, 0.98, 12)[town % 12]
    names = np.array([f"the township of number {i} in the county of {i % 7}" for i in range(60)])
    frame = pd.DataFrame({"town": names[town].astype(object)})
    frame.loc[rng.random(30_000) < 0.05, "town"] = None
    return MODLEncoder().fit(frame, y)


def test_long_names_of_groups_are_cut_short():
    encoder = long_names()
    shown = BinningDisplay.from_estimator(encoder, "town")
    groups = encoder.groups_[0]
    assert len(shown.labels) == len(groups) >= 12
    for label, group in zip(shown.labels, groups, strict=True):
        more = len(group) - 1 - (None in group)
        assert label.startswith(str(group[0])[:31])
        assert f"… + {more} more" in label or more == 0
        assert label.endswith(" or missing") == (None in group)
        assert len(label) < 60


def test_short_names_are_all_shown():
    x = pd.DataFrame({"x": ["a", "b", "c", "d", None] * 40})
    encoder = MODLEncoder().fit(x, [0, 0, 1, 1, 2] * 40)
    assert BinningDisplay.from_estimator(encoder, "x").labels == ["a, b", "c, d", "missing"]


@pytest.mark.parametrize("width", [5.0, 6.4, None])
def test_nothing_covers_anything(width):
    """The counts are apart and above the bars, the legend above the counts, all in the figure."""
    ax = None if width is None else plt.figure(figsize=(width, 4), layout="constrained").subplots()
    shown = BinningDisplay.from_estimator(long_names(), 0, ax=ax)
    shown.figure_.canvas.draw()
    axes, figure = shown.ax_.get_window_extent(), shown.figure_.bbox
    counts = [text.get_window_extent() for text in shown.counts_]
    assert all(left.x1 < right.x0 for left, right in pairwise(counts))
    assert min(box.y0 for box in counts) >= axes.y1
    assert shown.legend_.get_window_extent().y0 >= max(box.y1 for box in counts)
    written = (*shown.ax_.get_xticklabels(), shown.ax_.xaxis.label, shown.legend_)
    for box in (text.get_window_extent() for text in written):
        assert figure.x0 <= box.x0
        assert box.x1 <= figure.x1
        assert figure.y0 - 1 <= box.y0
        assert box.y1 <= figure.y1 + 1


def test_what_cannot_be_drawn():
    X, y = load_penguins()
    message = "of a MODLEncoder, an MDLPDiscretizer or a classifier of lessnaive, got str"
    with pytest.raises(TypeError, match=message):
        BinningDisplay.from_estimator("model", 0)
    with pytest.raises(NotFittedError):
        BinningDisplay.from_estimator(MODLEncoder(), 0)
    with pytest.raises(ValueError, match="'wing' is not a column of the table"):
        BinningDisplay.from_estimator(MODLEncoder().fit(X, y), "wing")


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout


def test_matplotlib_is_only_needed_to_draw():
    assert run("import sys, lessnaive, lessnaive.plot; print('matplotlib' in sys.modules)") == (
        "False\n"
    )
    without = """
import sys
sys.modules["matplotlib"] = None
from lessnaive.plot import BinningDisplay, GroupPathDisplay, StagewisePathDisplay
display = BinningDisplay(column="x", labels=["a"], counts=[[1, 2]], classes=[0, 1])
try:
    display.plot()
except ImportError as error:
    print(error)
"""
    assert run(without) == (
        "BinningDisplay needs matplotlib: install it with pip install 'lessnaive[plot]'.\n"
    )


def test_group_path():
    X, y = load_penguins(backend="pandas")
    model = GroupLassoNB(n_lams=8).fit(X, y)
    shown = GroupPathDisplay.from_estimator(model)
    assert [line.get_label() for line in shown.lines_] == list(X)
    for line, norms in zip(shown.lines_, model.path_.norms.T, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), model.path_.lam)
        np.testing.assert_array_equal(line.get_ydata(), norms)
    assert shown.chosen_.get_xdata() == [model.lam_, model.lam_]
    assert shown.ax_.get_xscale() == "log"
    left, right = shown.ax_.get_xlim()
    assert left == model.lambda_max_ > right  # the strongest penalty stands on the left
    assert shown.ax_.get_xlabel() == "penalty λ"
    assert shown.ax_.get_ylabel() == "distance from the pooled estimate"
    assert len(shown.ax_.get_legend().get_texts()) == 8  # and the chosen one


def test_group_path_names_the_columns_that_go_farthest():
    norms = np.outer([0.0, 1.0], np.arange(30.0))
    names = [f"c{j}" for j in range(30)]
    figure, (left, right) = plt.subplots(1, 2)
    shown = GroupPathDisplay(lam=[2.0, 1.0], norms=norms, names=names).plot(ax=right)
    assert shown.figure_ is figure
    assert not left.lines
    assert shown.chosen_ is None
    written = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert written == names[:-11:-1]


def test_group_path_of_something_else():
    X, y = [[1.0], [2.0], [4.0]], [0, 0, 1]
    with pytest.raises(TypeError, match="draws the path of a GroupLassoNB, got NaiveBayes"):
        GroupPathDisplay.from_estimator(NaiveBayes().fit(X, y))
    with pytest.raises(NotFittedError):
        GroupPathDisplay.from_estimator(GroupLassoNB())
    with pytest.raises(ValueError, match="one penalty and no path"):
        GroupPathDisplay.from_estimator(GroupLassoNB(lam=1.0).fit(X, y))


def stagewise_display(**options) -> StagewisePathDisplay:
    X, y = load_penguins(backend="pandas")
    return StagewisePathDisplay.from_estimator(StagewiseNB(**options).fit(X, y))


def test_the_lines_of_a_stagewise_path():
    X, y = load_penguins(backend="pandas")
    model = StagewiseNB(criterion="log_loss").fit(X, y)
    shown = StagewisePathDisplay.from_estimator(model)
    moved = model.path_.levels[-1] > 0
    assert set(shown.level_lines_) == set(X.columns[moved])
    for name, line in shown.level_lines_.items():
        expected = model.path_.levels[:, X.columns.get_loc(name)] / 40
        np.testing.assert_array_equal(line.get_ydata(), expected)
    for line, values in (
        (shown.error_line_, model.path_.error),
        (shown.deviance_line_, model.path_.deviance),
        (shown.aic_line_, model.path_.aic),
    ):
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert [line.get_xdata()[0] for line in shown.chosen_lines_] == [model.chosen_] * 2


def test_a_stagewise_path_has_names_everywhere():
    shown = stagewise_display()
    assert shown.error_ax_.get_xlabel() == "step"
    assert shown.error_ax_.get_ylabel() == "training error"
    assert shown.deviance_ax_.get_ylabel() == "deviance and AIC per row"
    assert "per-class" in shown.levels_ax_.get_ylabel()
    above, below = ([text.get_text() for text in legend.get_texts()] for legend in shown.legends_)
    assert set(above) == set(shown.level_lines_)
    assert below == ["training error", "deviance", "AIC"]
    assert shown.levels_ax_.get_xlim() == shown.error_ax_.get_xlim()


def test_many_columns_ten_names():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 14)) + 0.4 * y[:, None]
    model = StagewiseNB(patience=None, epsilon=1 / 2).fit(X, y)
    shown = StagewisePathDisplay.from_estimator(model)
    assert len(shown.level_lines_) == 14
    assert len(shown.legends_[0].get_texts()) == 10


def test_a_stagewise_path_on_given_axes():
    figure, axes = plt.subplots(2, 1)
    X, y = load_penguins(backend="pandas")
    shown = StagewisePathDisplay.from_estimator(StagewiseNB().fit(X, y), axes=axes)
    assert shown.figure_ is figure
    assert (shown.levels_ax_, shown.error_ax_) == tuple(axes)
    assert plt.get_fignums() == [figure.number]


def test_a_path_without_steps_can_be_drawn():
    shown = StagewisePathDisplay.from_estimator(
        StagewiseNB(patience=1).fit([[1.0], [1.0], [1.0]], [0, 0, 1])
    )
    shown.figure_.canvas.draw()


def test_only_stagewise_models_have_a_path():
    with pytest.raises(TypeError, match="draws the path of a StagewiseNB, got NaiveBayes"):
        StagewisePathDisplay.from_estimator(NaiveBayes())
    with pytest.raises(NotFittedError):
        StagewisePathDisplay.from_estimator(StagewiseNB())
