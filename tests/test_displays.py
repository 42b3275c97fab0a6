"""The displays of fitted models: that each shows the numbers of the model, and can be read."""

from __future__ import annotations

import re
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.calibration import calibration_curve
from sklearn.exceptions import NotFittedError

from lessnaive import (
    AttributeWeightedNB,
    BaristaNB,
    BaristaNBCV,
    FractionalNB,
    GroupLassoNB,
    LessNaiveClassifier,
    MODLEncoder,
    NaiveBayes,
    NBLogistic,
    NBLogisticCV,
    RelevanceWeightedNB,
    SelectiveNB,
    StagewiseNB,
    plot,
)
from lessnaive.datasets import load_penguins
from lessnaive.scorecard.terms.drawing import Bars, Curve, HeatMap, relative

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def penguins():
    return load_penguins(backend="pandas")


@pytest.fixture(scope="module")
def model(penguins):
    return LessNaiveClassifier().fit(*penguins)


@pytest.fixture(scope="module")
def paired():
    """Two classes that two columns tell together, one number and one name."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=800), "k": rng.choice(["x", "y"], 800)})
    return X, np.where((X["a"] > 0) == (X["k"] == "x"), "yes", "no")


def written(texts) -> list[str]:
    return [text.get_text() for text in texts]


@pytest.mark.parametrize("row", [0, 3, -1])
def test_explanation_adds_up(penguins, model, row):
    X, _ = penguins
    display = plot.ExplanationDisplay.from_estimator(model, X, row=row)
    one = X.iloc[[row]]
    chance = model.predict_proba(one)[0]
    c = int(chance.argmax())
    total = relative(model.predict_joint_log_proba(one)[0])[c]
    assert display.base + np.sum(display.contributions) == pytest.approx(total)
    assert display.probabilities[-1] == pytest.approx(chance[c])
    assert display.probabilities[0] == pytest.approx(softmax(model.scorecard_.base)[c])
    assert display.title.startswith(f"{model.classes_[c]}: ")
    bars = [bar.get_x() + bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(bars, display.base + np.cumsum(display.contributions))
    labels = written(display.ax_.get_yticklabels())
    assert labels[0] == "(average row)"
    assert labels[-1] == "(this row)"
    assert len(labels) == len(display.texts_) == 2 + len(display.names)


def test_explanation_of_a_class_with_few_bars(penguins, model):
    X, _ = penguins
    display = plot.ExplanationDisplay.from_estimator(model, X, class_="Gentoo", max_terms=2)
    assert len(display.names) == 3
    assert display.names[-1] == "5 other terms"
    scores = relative(np.asarray(model.scorecard_.explain(X[:1]))[0])[:, 2]
    strongest = np.sort(np.abs(scores[1:]))[::-1][:2]
    np.testing.assert_allclose(np.abs(display.contributions[:2]), strongest)
    assert np.sum(display.contributions) == pytest.approx(scores[1:].sum())
    with pytest.raises(ValueError, match="row must be below 344, the number of rows, got 344"):
        plot.ExplanationDisplay.from_estimator(model, X, row=344)
    with pytest.raises(ValueError, match="class_ must be one of the classes"):
        plot.ExplanationDisplay.from_estimator(model, X, class_="Emu")


@pytest.mark.parametrize("numeric", ["modl", "gaussian", "quantile"])
def test_terms_of_naive_bayes(penguins, numeric):
    X, y = penguins
    model = NaiveBayes(numeric=numeric).fit(X, y)
    for place, name in enumerate(X.columns):
        display = plot.TermDisplay.from_estimator(model, name)
        drawn = model.scorecard_.drawing(place)
        assert display.ax_.get_title() == name
        if isinstance(drawn, Bars):
            widths = np.array([[bar.get_width() for bar in bars] for bars in display.bars_]).T
            np.testing.assert_allclose(widths, drawn.scores)
            rows = [f"({n:,.6g})" for n in drawn.counts.sum(axis=1)]
            ticks = written(display.ax_.get_yticklabels())
            assert [tick.split("  ")[1] for tick in ticks] == rows
        else:
            assert isinstance(drawn, Curve)
            for c, line in enumerate(display.lines_):
                np.testing.assert_array_equal(line.get_xdata(), drawn.x)
                np.testing.assert_array_equal(line.get_ydata(), drawn.scores[:, c])


def test_a_term_of_two_classes_is_drawn_once(paired):
    X, y = paired
    model = LessNaiveClassifier().fit(X, y)
    curve = plot.TermDisplay.from_estimator(model, "a")
    assert [line.get_label() for line in curve.lines_] == ["yes"]
    assert len(curve.bands_) == 1
    assert not plot.TermDisplay.from_estimator(model, "a", bands=False).bands_
    assert curve.counts_ax_ is not None
    assert plot.TermDisplay.from_estimator(model, "k", class_="no").ax_.get_title() == "k: no"
    pair = plot.TermDisplay.from_estimator(model, "a & k")
    drawn = pair.drawing
    assert isinstance(drawn, HeatMap)
    np.testing.assert_allclose(pair.image_.get_array(), drawn.scores[:, :, 1])
    assert pair.ax_.get_title() == "a & k: yes"
    assert (pair.ax_.get_ylabel(), pair.ax_.get_xlabel()) == ("a", "k")


def test_dates_are_dates_and_ticks_are_where_the_curve_is():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, 400), unit="D")
    X = pd.DataFrame({"day": days, "wait": pd.to_timedelta(rng.exponential(90, 400), unit="h")})
    y = (X["day"] > pd.Timestamp("2002-01-01")) ^ (rng.random(400) < 0.2)
    X = X.mask(rng.random(X.shape) < 0.1)
    model = LessNaiveClassifier().fit(X, y)
    for column, wanted in (
        ("day", r"^(19|20)\d\d-\d\d-\d\d$"),
        ("wait", r"^(\d+ days?, )?0:00:00$"),
    ):
        display = plot.TermDisplay.from_estimator(model, column)
        texts = written(display.ax_.get_xticklabels())
        assert len(texts) >= 3
        assert all(re.match(wanted, text) for text in texts)
        assert display.drawing.missing is not None
        low, high = display.drawing.x[[0, -1]]
        assert all(low <= tick <= high for tick in display.ax_.get_xticks())


def test_rare_values_are_left_out():
    names = [f"v{i}" for i in range(40) for _ in range(40 - i)]
    y = [i % 2 for i in range(len(names))]
    model = NaiveBayes().fit([[name] for name in names], y)
    display = plot.TermDisplay.from_estimator(model, 0, max_values=5)
    assert len(display.bars_[0]) == 5
    assert "35 rarer values are not shown" in display.ax_.get_ylabel()
    assert written(display.ax_.get_yticklabels())[0] == "v0  (40)"


def test_terms_that_are_not_there(penguins, model):
    X, y = penguins
    with pytest.raises(ValueError, match=r"column must be one of the terms 'island'.*got 'wing'"):
        plot.TermDisplay.from_estimator(model, "wing")
    with pytest.raises(ValueError, match="column must be below 7, the number of terms, got 7"):
        plot.TermDisplay.from_estimator(model, 7)
    chosen = SelectiveNB().fit(X, y)
    unused = [n for n in X.columns if n not in [t.name for t in chosen.scorecard_.terms]]
    with pytest.raises(ValueError, match="The model does not use column"):
        plot.TermDisplay.from_estimator(chosen, unused[0])


@pytest.mark.parametrize("n_bins", [5, 10])
def test_calibration_is_scikit_learns(n_bins):
    rng = np.random.default_rng(0)
    chance = rng.random(500)
    y = np.where(rng.random(500) < chance**1.5, "yes", "no")
    display = plot.CalibrationDisplay.from_predictions(
        y, np.column_stack([1 - chance, chance]), classes=["no", "yes"], n_bins=n_bins
    )
    observed, predicted = calibration_curve(y == "yes", chance, n_bins=n_bins)
    line = display.lines_["yes"]
    np.testing.assert_allclose(line.get_xdata(), predicted)
    np.testing.assert_allclose(line.get_ydata(), observed)
    counts = np.bincount(np.minimum((chance * n_bins).astype(int), n_bins - 1))
    error = np.average(np.abs(observed - predicted), weights=counts)
    assert written(display.legend_.get_texts()) == [f"yes (error {error:.3f})"]
    found = display.curves["yes"]
    assert (found.low <= found.observed).all()
    assert (found.observed <= found.high).all()


def test_wilson_intervals_are_scipys():
    from scipy.stats import binomtest

    from lessnaive.validation.calibration import wilson_interval

    low, high = wilson_interval(np.array([0.0, 0.3, 1.0]), np.array([10.0, 20.0, 5.0]))
    for place, (k, n) in enumerate([(0, 10), (6, 20), (5, 5)]):
        expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high), abs=1e-4)


def test_weights_count_in_calibration():
    chance, y = np.array([0.2, 0.2, 0.8]), np.array(["a", "b", "b"])
    probability = np.column_stack([1 - chance, chance])
    kind = plot.CalibrationDisplay
    weighted = kind.from_predictions(y, probability, classes=["a", "b"], sample_weight=[2, 1, 1])
    twice = kind.from_predictions(y[[0, 0, 1, 2]], probability[[0, 0, 1, 2]], classes=["a", "b"])
    for one, two in zip(weighted.curves["b"], twice.curves["b"], strict=True):
        np.testing.assert_allclose(one, two)


def test_calibration_of_models(penguins, model):
    display = plot.CalibrationDisplay.from_estimator(model, *penguins, class_="Gentoo")
    assert list(display.lines_) == ["Gentoo"]
    assert display.ax_.get_title() == "LessNaiveClassifier"
    with pytest.raises(TypeError, match="draws a classifier with predict_proba, got str"):
        plot.CalibrationDisplay.from_estimator("model", *penguins)


def test_points_of_a_nomogram_add_up(penguins):
    """A row is read off as people would, and gives the probability of the model."""
    X, y = penguins
    X, y = X[y != "Chinstrap"], y[y != "Chinstrap"]
    model = NaiveBayes().fit(X, y)
    display = plot.NomogramDisplay.from_estimator(model)
    assert (display.class_name, display.other_name) == ("Gentoo", "Adelie")
    card = model.scorecard_
    points = {}
    for scale, start in zip(display.scales, display.starts_, strict=True):
        found = (scale.log_odds - start) * display.points_per_nat_
        points[scale.name] = dict(zip(scale.labels, found, strict=True))
        assert found.min() == 0.0
    assert max(max(of.values()) for of in points.values()) == pytest.approx(100.0)
    for row in (0, 3, 200):
        one = X.iloc[[row]]
        total = 0.0
        for term in card.terms:
            rows = list(term.rows(card.schema.kinds))
            code = int(term.encoding.codes(_column(card, one, term))[0])
            label = rows[code - (rows[0].label != "(missing)")].label
            total += points[term.name][label]
        log_odds = display.base + display.starts_.sum() + total / display.points_per_nat_
        chance = model.predict_proba(one)[0, 1]
        assert 1 / (1 + np.exp(-log_odds)) == pytest.approx(chance, rel=1e-6)


def _column(card, one, term):
    from lessnaive.table import read_table

    return card.schema.match(read_table(one), card.model)[term.inputs[0]]


def test_nomograms_of_many_classes(penguins, model):
    kind = plot.NomogramDisplay
    display = kind.from_estimator(model, class_="Gentoo", against="Chinstrap", max_terms=3)
    assert display.ax_.get_title() == "Gentoo against Chinstrap"
    assert len(display.scales) == 3
    base = model.scorecard_.base
    assert display.base == pytest.approx(base[2] - base[1])
    with pytest.raises(ValueError, match="against must be another class"):
        kind.from_estimator(model, class_="Gentoo", against="Gentoo")


def test_bins_of_models(penguins):
    X, y = penguins
    encoder = plot.BinningDisplay.from_estimator(MODLEncoder().fit(X, y), "bill_length_mm")
    model = plot.BinningDisplay.from_estimator(NaiveBayes().fit(X, y), "bill_length_mm")
    assert encoder.labels[1:] == model.labels[2:]
    np.testing.assert_array_equal(encoder.counts[1:], model.counts[2:])
    assert np.sum(model.counts) == len(y)
    for numeric in ("gaussian",):
        with pytest.raises(ValueError, match="has no bins in this NaiveBayes, but a curve"):
            plot.BinningDisplay.from_estimator(
                NaiveBayes(numeric=numeric).fit(X, y), "bill_length_mm"
            )
    with pytest.raises(ValueError, match="has no bins in this NBLogistic"):
        plot.BinningDisplay.from_estimator(NBLogistic().fit(X, y), "year")


@pytest.mark.parametrize(
    "kind",
    [BaristaNB, AttributeWeightedNB, FractionalNB, RelevanceWeightedNB, SelectiveNB, StagewiseNB],
)
def test_weights_of_all_models_that_have_some(penguins, kind):
    model = kind().fit(*penguins)
    display = plot.WeightsDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.weights, np.atleast_2d(model.weights_))


def test_group_paths_are_named_beside(penguins):
    display = plot.GroupPathDisplay.from_estimator(GroupLassoNB().fit(*penguins))
    names = written(display.legend_.get_texts())
    assert names[-1].startswith("chosen: ")
    assert set(names[:-1]) == set(penguins[0].columns)
    display.figure_.canvas.draw()
    assert display.legend_.get_window_extent().x0 >= display.ax_.get_window_extent().x1


def test_penalties_on_surfaces_have_no_exponents(penguins):
    model = BaristaNBCV(n_l1=4, cv=3).fit(*penguins)
    display = plot.CVSurfaceDisplay.from_estimator(model)
    ticks = written([*display.ax_.get_xticklabels(), *display.ax_.get_yticklabels()])
    assert not any("e" in tick for tick in ticks)
    display.figure_.canvas.draw()
    places = [tick.get_window_extent() for tick in display.ax_.get_xticklabels()]
    assert all(one.x1 < two.x1 for one, two in pairwise(places))


DISPLAYS = sorted(name for name in plot.__all__ if name.endswith("Display"))


def _made(name, X, y, column="island"):
    """A display of each kind, by its from_estimator."""
    kind = getattr(plot, name)
    if name == "CriticalDifferenceDisplay":  # of many methods on many tables
        return kind.from_scores(np.random.default_rng(0).random((10, 3)))
    if name == "ComparisonDisplay":
        return kind(scores=[[0.1, 0.2], [0.3, 0.4]], names=["a", "b"], worse=[False, True]).plot()
    scored = NaiveBayes().fit(X, y)
    given = {
        "BinningDisplay": (scored, column),
        "CVSurfaceDisplay": (BaristaNBCV(n_l1=3, cv=2),),
        "CalibrationDisplay": (scored, X, y),
        "CoefficientsDisplay": (NBLogistic(), X),
        "ConvergenceDisplay": (BaristaNB(),),
        "ExplanationDisplay": (scored, X),
        "GroupPathDisplay": (GroupLassoNB(),),
        "ImportanceDisplay": (scored,),
        "LogisticPathDisplay": (NBLogisticCV(n_lams=4, cv=2), X),
        "NomogramDisplay": (scored,),
        "PathDisplay": (BaristaNBCV(n_l1=3, cv=2),),
        "PrequentialDisplay": (NaiveBayes(), X, y),
        "SearchDisplay": (FractionalNB(p=0.5),),
        "SparsityDisplay": (FractionalNB(), X, y),
        "StagewisePathDisplay": (StagewiseNB(),),
        "TermDisplay": (scored, column),
        "WeightsDisplay": (BaristaNB(),),
    }[name]
    model, *more = given
    if name not in ("PrequentialDisplay", "SparsityDisplay"):
        model.fit(X, y)
    options = {"cv": 2, "lams": (0.0, 0.1)} if name == "SparsityDisplay" else {}
    return kind.from_estimator(model, *more, **options)


@pytest.mark.parametrize("name", DISPLAYS)
def test_one_convention_for_all(name, penguins):
    display = _made(name, *penguins)
    assert type(display).__name__ == name
    assert display.__match_args__ == ()  # all arguments have names
    assert display.plot().figure_.axes
    # Axes that share a place have one title, and so has a colour bar with its picture.
    titles = [ax.get_title() for ax in display.figure_.axes if ax.get_title()]
    places = {ax.get_position().bounds for ax in display.figure_.axes if ax.get_title()}
    assert titles
    untitled = [ax for ax in display.figure_.axes if not ax.get_title()]
    for ax in untitled:
        twin = ax.get_position().bounds in places
        assert twin or ax.get_label() == "<colorbar>" or name == "StagewisePathDisplay"


@pytest.fixture(scope="module")
def awkward(penguins):
    """Names that would be formulas, that legends leave out, and that leave no room."""
    X, y = penguins
    names = {"island": "$\\frac{1}{2$", "sex": "a" * 500, "bill_length_mm": "_hidden"}
    X = X.rename(columns={**names, "body_mass_g": "$^$", "flipper_length_mm": "two\nlines"})
    return X.assign(**{"$\\frac{1}{2$": "$_^" + X["$\\frac{1}{2$"] + "$"}), "_$\\frac{" + y + "$"


@pytest.mark.parametrize("name", DISPLAYS)
def test_names_are_names(name, awkward):
    """Matplotlib takes them for neither formulas nor private, and long ones leave room."""
    X, y = awkward
    for column in X.columns if name in ("BinningDisplay", "TermDisplay") else X.columns[:1]:
        figure = _made(name, X, y, column).figure_
        figure.canvas.draw()
        assert figure.get_tightbbox().width < 20
        texts = [text for text in figure.findobj(mpl.text.Text) if text.get_visible()]
        assert max(len(text.get_text()) for text in texts) < 120
    if name.endswith("PathDisplay"):
        legends = figure.findobj(mpl.legend.Legend)
        assert any("_hidden" in text for own in legends for text in written(own.get_texts()))
    if name in ("BinningDisplay", "TermDisplay"):
        [legend] = figure.findobj(mpl.legend.Legend)
        assert len(legend.get_texts()) == 3


@pytest.mark.parametrize("name", ["ExplanationDisplay", "NomogramDisplay", "TermDisplay"])
def test_what_cannot_be_drawn(name, penguins):
    kind = getattr(plot, name)
    more = {"ExplanationDisplay": [penguins[0]], "TermDisplay": ["island"]}.get(name, [])
    with pytest.raises(TypeError, match=rf"^{name} draws a classifier of lessnaive, got str\.$"):
        kind.from_estimator("model", *more)
    with pytest.raises(NotFittedError):
        kind.from_estimator(NaiveBayes(), *more)


def test_streams_are_drawn_from_a_model(penguins):
    X, y = penguins
    kind = plot.PrequentialDisplay
    display = kind.from_estimator(NaiveBayes(), X, y, batch_size=50, window=100)
    assert list(display.recent_[0]) == ["NaiveBayes"]
    assert display.curves["NaiveBayes"]["n_rows"][-1] == len(y)
    with pytest.raises(TypeError, match="draws a classifier with partial_fit, got BaristaNB"):
        kind.from_estimator(BaristaNB(), X, y)
