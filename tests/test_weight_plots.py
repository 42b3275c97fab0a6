"""Displays of learned weights: what is drawn, where, and that it can be read."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lessnaive import (
    AttributeWeightedNB,
    AveragedNB,
    BaristaNB,
    BaristaNBCV,
    FractionalNB,
    NaiveBayes,
    load,
    save,
)
from lessnaive.datasets import load_penguins
from lessnaive.plot import ConvergenceDisplay, CVSurfaceDisplay, PathDisplay, WeightsDisplay
from lessnaive.solver import FISTA, ISTA, ProxNewton
from lessnaive.validation.metrics import SCORES

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

CLASSES = ["Adelie", "Chinstrap", "Gentoo"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def penguins():
    return load_penguins(backend="pandas")


@pytest.fixture(scope="module")
def chosen(penguins):
    """A model with a grid whose chosen pair is not at a corner."""
    grid = ([0.0, 0.1, 1.0, 5.0], [0.05, 0.5, 50.0])
    model = BaristaNBCV(grid=grid, cv=3, rule="one_se", shrink_to="one", leave_one_out=True)
    return model.fit(*penguins)


def written(texts) -> list[str]:
    return [text.get_text() for text in texts]


def test_convergence_by_hand():
    display = ConvergenceDisplay(
        gaps={"one": [1.0, 1e-3, 0.0], "two": [1.0, 0.5]},
        distances={"one": [2.0, 0.1, 0.0], "two": [2.0, 1.5]},
        seconds={"one": [0.1, 0.2, 0.3], "two": [0.1, 0.4]},
        floor=1e-9,
    ).plot()
    gaps, distances = display.lines_
    np.testing.assert_array_equal(gaps["one"].get_ydata(), [1.0, 1e-3, 1e-9])  # not below
    np.testing.assert_array_equal(gaps["one"].get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(distances["one"].get_ydata(), [2.0, 0.1, 0.0])
    assert [ax.get_yscale() for ax in display.axes_] == ["log", "log"]
    assert [ax.get_xlabel() for ax in display.axes_] == ["iteration", "iteration"]
    assert written(display.figure_.legends[0].get_texts()) == ["one", "two"]
    display.plot(x="seconds", log_x=True, axes=plt.subplots(1, 2)[1])
    assert written(display.axes_[0].get_legend().get_texts()) == ["one", "two"]
    np.testing.assert_array_equal(display.lines_[0]["two"].get_xdata(), [0.1, 0.4])
    assert [ax.get_xlabel() for ax in display.axes_] == ["seconds", "seconds"]
    assert display.axes_[0].get_xscale() == "log"


def test_convergence_of_histories(penguins):
    solvers = {"ISTA": ISTA, "FISTA": FISTA, "proximal Newton": ProxNewton}
    models = {
        name: BaristaNB(l1=2.0, l2=2.0, solver=make(keep_weights=True)).fit(*penguins)
        for name, make in solvers.items()
    }
    best = BaristaNB(l1=2.0, l2=2.0, tol=1e-12).fit(*penguins)
    histories = {name: model.history_ for name, model in models.items()}
    display = ConvergenceDisplay.from_histories(histories, best, log_x=True)
    for name, model in models.items():
        gaps, distances = (lines[name].get_ydata() for lines in display.lines_)
        assert len(gaps) == len(distances) == model.n_iter_ + 1
        np.testing.assert_allclose(gaps[0], model.history_["objective"][0] - best.objective_)
        # All solvers begin at naive Bayes, where all weights are 1, and end at the same weights.
        np.testing.assert_allclose(distances[0], np.linalg.norm(1 - best.weights_))
        assert distances[-1] < 1e-5 * distances[0]
        assert gaps[-1] < 1e-8 * gaps[0]
        assert (gaps > 0).all()


def test_convergence_of_loaded_models(penguins, tmp_path):
    save(BaristaNB().fit(*penguins), tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    display = ConvergenceDisplay.from_histories({"loaded": model.history_}, model)
    assert len(display.lines_[0]["loaded"].get_ydata()) == model.n_iter_ + 1
    with pytest.raises(ValueError, match="needs the times of the iterations"):
        display.plot(x="seconds")


def test_convergence_of_one_model(penguins):
    X, y = penguins
    model = BaristaNB(solver="fista", tol=1e-6).fit(X, y)
    display = ConvergenceDisplay.from_estimator(model)
    gaps = model.history_["objective"] - model.objective_
    np.testing.assert_array_equal(display.gaps["BaristaNB"], gaps)
    assert len(display.axes_) == 1
    best = BaristaNB(tol=1e-12).fit(X, y)
    display = ConvergenceDisplay.from_estimator(model, optimum=best, x="seconds")
    np.testing.assert_array_equal(
        display.gaps["BaristaNB"], model.history_["objective"] - best.objective_
    )
    with pytest.raises(TypeError, match="estimator must be a fitted model with learned weights"):
        ConvergenceDisplay.from_estimator(NaiveBayes().fit(X, y))


def test_convergence_without_weights(penguins):
    model = BaristaNB().fit(*penguins)
    display = ConvergenceDisplay.from_histories({"auto": model.history_}, model)
    assert len(display.axes_) == len(display.lines_) == 1
    figure, axes = plt.subplots(1, 2)
    assert display.plot(axes=axes[:1]).figure_ is figure
    with pytest.raises(ValueError, match="1 axes are needed, got 2"):
        display.plot(axes=axes)
    with pytest.raises(ValueError, match="x must be 'iteration' or 'seconds', got 'time'"):
        display.plot(x="time")
    with pytest.raises(ValueError, match="needs the times of the iterations: give seconds"):
        ConvergenceDisplay(gaps={"a": [1.0]}).plot(x="seconds")
    with pytest.raises(TypeError, match="with learned weights, got NaiveBayes"):
        ConvergenceDisplay.from_histories({}, NaiveBayes())


def test_weights_by_hand():
    display = WeightsDisplay(
        weights=[[0.0, 1.0, -2.0], [0.25, 1.004, 0.5]], columns=list("abc"), groups=["no", "yes"]
    ).plot()
    np.testing.assert_array_equal(
        display.image_.get_array(), [[0.0, 0.25], [1.0, 1.004], [-2.0, 0.5]]
    )
    assert display.image_.get_clim() == (-2.0, 2.0)
    # Exactly 0 and 1 are told from what is rounded to them.
    assert written(display.texts_) == ["0", "0.25", "1", "1.00", "-2.00", "0.50"]
    assert written(display.ax_.get_yticklabels()) == ["a", "b", "c"]
    assert written(display.ax_.get_xticklabels()) == ["no", "yes"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("class", "column")
    assert display.colorbar_.ax.get_ylabel() == "weight"


def test_text_is_readable_on_its_colour():
    display = WeightsDisplay(weights=[[0.0, 3.0, -3.0]], columns=list("abc"), groups=["x"]).plot()
    assert [text.get_color() for text in display.texts_] == ["black", "white", "white"]


def test_equal_weights_have_a_scale():
    display = WeightsDisplay(weights=[[1.0, 1.0]], columns=["a", "b"], groups=["x"], center=1.0)
    assert display.plot().image_.get_clim() == (0.0, 2.0)


def test_weights_of_models(penguins):
    X, y = penguins
    model = BaristaNB(l1=2.0, shrink_to="one").fit(X, y)
    display = WeightsDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.weights, model.weights_)
    assert display.groups == CLASSES
    assert display.columns == list(X.columns)
    assert display.center == 1.0

    shared = AttributeWeightedNB(l2=1.0).fit(X, y)
    display = WeightsDisplay.from_estimator(shared)
    np.testing.assert_array_equal(display.weights, [shared.weights_])
    assert display.groups == ["all classes"]

    mixed = AttributeWeightedNB(weights="mixed", tol=1e-6).fit(X, y)
    display = WeightsDisplay.from_estimator(mixed)
    np.testing.assert_array_equal(display.weights, [*mixed.weights_, mixed.shared_weights_])
    assert display.groups == [*CLASSES, "all classes"]


def test_columns_that_say_most_are_kept(penguins):
    model = BaristaNB(l1=5.0).fit(*penguins)
    display = WeightsDisplay.from_estimator(model, max_columns=2)
    largest = np.abs(model.weights_).max(axis=0)
    kept = sorted(np.argsort(largest)[-2:])
    assert display.columns == [penguins[0].columns[place] for place in kept]
    np.testing.assert_array_equal(display.weights, model.weights_[:, kept])


def test_many_classes_and_long_names_fit():
    rng = np.random.default_rng(0)
    names = [f"a rather long name of a column, number {j}" for j in range(50)]
    display = WeightsDisplay(
        weights=rng.normal(size=(26, 50)), columns=names, groups=[f"class {c}" for c in range(26)]
    ).plot()
    assert not display.texts_
    display.figure_.canvas.draw()
    ticks = display.ax_.get_xticklabels()
    boxes = [tick.get_window_extent() for tick in ticks]
    assert all(one.x1 <= two.x0 + 1 for one, two in pairwise(boxes))
    assert min(tick.get_window_extent().x0 for tick in display.ax_.get_yticklabels()) >= 0


def test_path(chosen, penguins):
    display = PathDisplay.from_estimator(chosen, class_="Chinstrap", n_names=3)
    row = chosen.path_.l2.tolist().index(chosen.l2_)
    for place, line in enumerate(display.lines_):
        np.testing.assert_array_equal(line.get_xdata(), [5.0, 1.0, 0.1, 0.0])
        np.testing.assert_array_equal(line.get_ydata(), chosen.path_.weights[row, :, 1, place])
    assert display.chosen_.get_xdata()[0] == chosen.l1_
    assert display.ax_.xaxis_inverted()  # from strong to weak
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("l1", "weight")
    assert display.ax_.get_title() == f"weights for Chinstrap at l2 = {chosen.l2_:g}"
    named = written(display.legend_.get_texts())
    assert named[-1] == f"chosen: {chosen.l1_:.3g}"
    # The three that go farthest from the target are named.
    farthest = np.abs(chosen.path_.weights[row, :, 1] - 1).max(axis=0).argsort()[-3:]
    assert set(named[:-1]) == {penguins[0].columns[place] for place in farthest}
    assert PathDisplay.from_estimator(chosen).ax_.get_title().startswith("weights for Gentoo")


def test_path_scales():
    display = PathDisplay(l1=[10.0, 1.0], weights=[[0.0], [1.0]], columns=["a"])
    assert display.plot().ax_.get_xscale() == "log"
    assert display.chosen_ is None
    display.l1 = [10.0, 0.0]
    assert display.plot().ax_.get_xscale() == "symlog"
    display.l1 = [0.0]
    display.weights = [[0.5]]
    assert display.plot().ax_.get_xscale() == "linear"


def test_surface(chosen):
    display = CVSurfaceDisplay.from_estimator(chosen)
    path = chosen.path_
    np.testing.assert_array_equal(display.image_.get_array(), -path.scores)
    assert display.colorbar_.ax.get_ylabel() == "log-loss"
    assert written(display.ax_.get_xticklabels()) == ["5", "1", "0.1", "0"]
    assert written(display.ax_.get_yticklabels()) == ["50", "0.5", "0.05"]
    assert written(display.texts_)[:2] == [f"{-score:.3f}" for score in path.scores[0, :2]]
    assert written(display.legend_.get_texts()) == ["best", "one standard error", "chosen"]
    places = {name: (*m.get_ydata(), *m.get_xdata()) for name, m in display.marks_.items()}
    assert places["best"] == np.unravel_index(path.scores.argmax(), path.scores.shape)
    assert places["chosen"] == places["one standard error"] != places["best"]
    l2_place, l1_place = places["chosen"]
    assert (path.l2[l2_place], path.l1[l1_place]) == (chosen.l2_, chosen.l1_)
    least = path.scores[places["best"]] - path.standard_errors[places["best"]]
    assert path.scores[places["chosen"]] >= least


@pytest.mark.parametrize("scoring", SCORES)
def test_every_score_has_a_name(scoring, penguins):
    model = BaristaNBCV(grid=([0.1, 10.0], [1.0]), cv=2, scoring=scoring).fit(*penguins)
    display = CVSurfaceDisplay.from_estimator(model)
    sign = 1 if scoring in ("accuracy", "auc") else -1
    np.testing.assert_array_equal(display.scores, sign * model.path_.scores)
    assert (np.asarray(display.scores) >= 0).all()


def test_good_scores_are_bright(chosen, penguins):
    by_loss = CVSurfaceDisplay.from_estimator(chosen)
    assert by_loss.image_.get_cmap()(0.0) == mpl.colormaps["viridis"](1.0)
    accurate = BaristaNBCV(grid=([0.1, 10.0], [1.0]), cv=3, scoring="accuracy").fit(*penguins)
    display = CVSurfaceDisplay.from_estimator(accurate)
    assert display.image_.get_cmap()(1.0) == mpl.colormaps["viridis"](1.0)
    np.testing.assert_array_equal(display.image_.get_array(), accurate.path_.scores)
    assert display.colorbar_.ax.get_ylabel() == "accuracy"


@pytest.mark.parametrize("display", [WeightsDisplay, PathDisplay, CVSurfaceDisplay])
def test_what_cannot_be_drawn(display, penguins):
    with pytest.raises(TypeError, match=rf"{display.__name__} draws .*, got NaiveBayes\."):
        display.from_estimator(NaiveBayes().fit(*penguins))
    with pytest.raises(NotFittedError):
        display.from_estimator(BaristaNBCV())


@pytest.mark.parametrize("display", [WeightsDisplay, PathDisplay, CVSurfaceDisplay])
def test_they_draw_into_the_axes_given(display, chosen):
    figure, (left, right) = plt.subplots(1, 2)
    shown = display.from_estimator(chosen, ax=right)
    assert shown.ax_ is right
    assert shown.figure_ is figure
    assert not left.lines
    assert not left.images
    assert len(plt.get_fignums()) == 1


def test_an_unknown_class(chosen):
    with pytest.raises(
        ValueError, match=r"class_ must be one of the classes \['Adelie'.*got 'Emu'"
    ):
        PathDisplay.from_estimator(chosen, class_="Emu")


def test_unfitted_optimum():
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_histories({}, BaristaNB())


@pytest.mark.parametrize("kind", [FractionalNB, AveragedNB])
def test_weights_between_0_and_1(penguins, kind):
    model = kind().fit(*penguins)
    display = WeightsDisplay.from_estimator(model)
    assert display.groups == ["all classes"]
    assert display.center == 0.0
    np.testing.assert_array_equal(display.weights, model.weights_[None])
    assert len(display.texts_) == len(model.weights_)
