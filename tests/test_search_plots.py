"""Displays of FractionalNB: what is drawn is what was found."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lessnaive import FractionalNB, NaiveBayes
from weighted_tables import table

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from lessnaive.plot import SearchDisplay, SparsityDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def models():
    X, y = table("penguins")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            s: FractionalNB(p=0.5, solver=s, opti_level=3).fit(X, y) for s in ("pgdmb", "pgdmb-ms")
        }


def test_searches_are_drawn():
    fitted = models()
    display = SearchDisplay.from_models(fitted)
    for name, model in fitted.items():
        drawn = display.lines_[name].get_ydata()
        np.testing.assert_allclose(drawn, model.history_["best"] / model.null_cost_)
    # The thin line of the search that starts anew has a gap before each start.
    thin = display.ax_.lines[3].get_ydata()
    runs = int(fitted["pgdmb-ms"].history_["run"].max())
    assert runs > 0
    assert np.isnan(thin).sum() == runs
    assert display.ax_.get_legend() is not None


def test_searches_on_given_axes():
    _, ax = plt.subplots()
    assert SearchDisplay.from_models(models(), ax=ax).ax_ is ax


def test_what_cannot_be_drawn():
    X, y = table("penguins")
    with pytest.raises(TypeError, match="FractionalNB"):
        SearchDisplay.from_models({"a": NaiveBayes().fit(X, y)})
    with pytest.raises(ValueError, match="no models"):
        SearchDisplay.from_models({})
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="2 axes"):
        SparsityDisplay.from_table(X, y, lams=(0.1,), powers=(1.0,), cv=2, axes=[ax])


def test_sparsity():
    X, y = table("penguins")
    display = SparsityDisplay.from_table(X, y, lams=(5.0, 0.0, 1e5), powers=(1.0,), cv=3)
    assert display.lams.tolist() == [0.0, 5.0, 1e5]
    kept = display.kept[0]
    assert kept[0] > kept[1] > kept[2] == 0
    assert display.train[0, -1] == 0
    assert 0.5 < display.test[0, 0] < display.train[0, 0] < 1
    rate, columns = display.axes_
    np.testing.assert_allclose(rate.lines[0].get_ydata(), display.test[0])
    np.testing.assert_allclose(columns.lines[0].get_ydata(), kept)
    assert [ax.get_ylabel() for ax in display.axes_] == ["compression rate", "columns kept"]
