"""Displays of linear models: what is drawn, where, and that it can be read."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from lessnaive import NaiveBayes, NBLogistic, NBLogisticCV
from lessnaive.plot import CoefficientsDisplay, LogisticPathDisplay
from lessnaive.plot.linear import design_scale
from logistic_oracle import design_matrix, random_table

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def two():
    X, y = random_table(2, 200)
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    return X, y, NBLogisticCV(n_lams=12, cv=3).fit(X, y)


@pytest.fixture(scope="module")
def three():
    X, y = random_table(3, 200)
    return X, y, NBLogisticCV(n_lams=6, cv=3, penalty="l2").fit(X, np.array(["a", "b", "c"])[y])


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    names = [f"a column with a long name, {j}" for j in range(40)]
    X = pd.DataFrame(rng.normal(size=(150, 40)), columns=names)
    y = (X.to_numpy()[:, :5].sum(axis=1) + rng.normal(size=150) > 0).astype(int)
    return X, y, NBLogisticCV(n_lams=8, cv=2).fit(X, y)


def inside(display, artists) -> bool:
    """Whether all artists are within the figure."""
    figure = display.figure_
    figure.canvas.draw()
    boxes = [artist.get_window_extent() for artist in artists]
    edge = figure.bbox
    return all(
        box.x0 >= edge.x0 and box.x1 <= edge.x1 and box.y0 >= edge.y0 and box.y1 <= edge.y1
        for box in boxes
    )


def test_the_scale_of_design_columns(two):
    X, _, model = two
    design = design_matrix(X, model.design_names_)
    scale = design_scale(model, X)
    np.testing.assert_allclose(scale, design.std(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(design_scale(model, None), np.ones(len(scale)))


def test_the_path_begins_at_naive_bayes_and_ends_at_maximum_likelihood(two):
    X, _, model = two
    display = LogisticPathDisplay.from_estimator(model, X)
    scale = design_scale(model, X)
    drawn = np.array([line.get_ydata() for line in display.lines_])
    np.testing.assert_array_equal(drawn[:, 0], scale * model.target_coef_[0])
    np.testing.assert_allclose(drawn[:, -1], scale * model.path_.coef[-1, 0])
    dots = [line.get_ydata()[0] for line in display.targets_]
    np.testing.assert_array_equal(dots, drawn[:, 0])
    assert display.ax_.get_xscale() == "log"
    left, right = display.ax_.get_xlim()
    assert left == model.path_.lams[0] > right == model.path_.lams[-1]
    assert display.chosen_.get_xdata()[0] == model.lam_
    assert display.ax_.get_title() == "1 against 0"
    assert display.ax_.get_title(loc="left") == "naive Bayes"
    assert display.ax_.get_title(loc="right") == "maximum likelihood"
    assert display.ax_.get_xlabel() == "penalty λ"
    assert display.ax_.get_ylabel() == "coefficient per standard deviation"


def test_the_legend_has_the_order_of_the_lines(two):
    X, _, model = two
    display = LogisticPathDisplay.from_estimator(model, X, n_names=4)
    *names, chosen = [text.get_text() for text in display.legend_.get_texts()]
    assert chosen == f"chosen: {model.lam_:.3g}"
    ends = {line.get_label(): line.get_ydata()[-1] for line in display.lines_}
    assert len(names) == 4
    assert [ends[name] for name in names] == sorted((ends[name] for name in names), reverse=True)
    moves = {
        line.get_label(): np.abs(line.get_ydata() - line.get_ydata()[0]).max()
        for line in display.lines_
    }
    assert set(names) == set(sorted(moves, key=lambda name: -moves[name])[:4])
    coloured = {line.get_color() for line in display.lines_ if isinstance(line.get_color(), str)}
    assert coloured == {"0.8"}


def test_the_first_of_two_classes_has_the_signs_turned(two):
    _, _, model = two
    for display in (LogisticPathDisplay, CoefficientsDisplay):
        first, second = (display.from_estimator(model, class_=c) for c in (0, 1))
        np.testing.assert_array_equal(first.targets, -np.asarray(second.targets)[_order(first)])
        assert (first.title, second.title) == ("0 against 1", "1 against 0")


def _order(display) -> slice:
    """Sorted coefficients come in the opposite order when their signs are turned."""
    return slice(None, None, -1 if isinstance(display, CoefficientsDisplay) else 1)


def test_more_classes(three):
    X, _, model = three
    display = LogisticPathDisplay.from_estimator(model, class_="b")
    drawn = np.array([line.get_ydata() for line in display.lines_]).T
    np.testing.assert_array_equal(drawn, model.path_.coef[:, 1])
    assert display.title == "score of b"
    assert CoefficientsDisplay.from_estimator(model, X).title == "score of c"


def test_coefficients_and_targets(two):
    X, _, model = two
    display = CoefficientsDisplay.from_estimator(model, X, sort=False)
    scale = design_scale(model, X)
    np.testing.assert_allclose(display.points_.get_xdata(), scale * model.coef_[0])
    np.testing.assert_allclose(display.targets_.get_xdata(), scale * model.target_coef_[0])
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == model.design_names_
    for place, segment in enumerate(display.moves_.get_segments()):
        ends = [display.targets_.get_xdata()[place], display.points_.get_xdata()[place]]
        np.testing.assert_allclose(sorted(segment[:, 0]), sorted(ends))
        assert (segment[:, 1] == place).all()
    top, bottom = display.ax_.get_ylim()[::-1]
    assert top < 0 < len(names) - 1 < bottom  # the first one is at the top
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["naive Bayes", "model"]
    assert display.points_.get_color() != display.targets_.get_markeredgecolor()


def test_sorted_coefficients_are_the_largest_ones(two):
    X, _, model = two
    display = CoefficientsDisplay.from_estimator(model, X, max_columns=3)
    values = display.points_.get_xdata()
    assert values.tolist() == sorted(values, reverse=True)
    scale = design_scale(model, X)
    size = np.maximum(np.abs(scale * model.coef_[0]), np.abs(scale * model.target_coef_[0]))
    farthest = np.argsort(-size)[:3]
    assert set(display.names) == {model.design_names_[j] for j in farthest}


def test_a_model_shrunk_to_zero(two):
    X, y, _ = two
    model = NBLogistic(target="zero", lam=2.0).fit(X, y)
    display = CoefficientsDisplay.from_estimator(model)
    assert not np.asarray(display.targets).any()
    assert display.target_name == "target"
    assert display.ax_.get_xlabel() == "coefficient per unit"


@pytest.mark.parametrize("kind", [LogisticPathDisplay, CoefficientsDisplay])
def test_forty_columns_can_be_read(kind, wide):
    X, _, model = wide
    display = kind.from_estimator(model, X)
    legend = display.ax_.get_legend()
    texts = [legend, display.ax_.title, display.ax_.xaxis.label]
    if kind is CoefficientsDisplay:
        labels = display.ax_.get_yticklabels()
        texts += labels
        display.figure_.canvas.draw()
        edges = sorted((t.get_window_extent().y0, t.get_window_extent().y1) for t in labels)
        assert all(a[1] <= b[0] + 1 for a, b in pairwise(edges))
    else:
        assert len(legend.get_texts()) == 11
    assert inside(display, texts)


@pytest.mark.parametrize("lams", [[5.0, 1.0, 0.0], [2.0], [0.0]])
def test_odd_paths(two, lams):
    X, y, _ = two
    model = NBLogisticCV(lams=lams, cv=2).fit(X.drop(columns="size"), y)
    display = LogisticPathDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    assert display.ax_.get_xscale() == {3: "symlog", 1: "log" if lams[0] else "linear"}[len(lams)]


def test_axes_that_are_given(two):
    _, _, model = two
    for kind in (LogisticPathDisplay, CoefficientsDisplay):
        ax = plt.figure().subplots()
        assert kind.from_estimator(model, ax=ax).ax_ is ax


def test_what_cannot_be_drawn(two):
    X, y, model = two
    with pytest.raises(TypeError, match="draws the path of an NBLogisticCV, got NBLogistic"):
        LogisticPathDisplay.from_estimator(NBLogistic().fit(X, y))
    with pytest.raises(TypeError, match="draws the coefficients of NBLogistic or NBLogisticCV"):
        CoefficientsDisplay.from_estimator(NaiveBayes().fit(X, y))
    for kind in (LogisticPathDisplay, CoefficientsDisplay):
        with pytest.raises(NotFittedError):
            kind.from_estimator(NBLogisticCV())
        with pytest.raises(ValueError, match=r"class_ must be one of the classes \[0, 1\], got 7"):
            kind.from_estimator(model, class_=7)
