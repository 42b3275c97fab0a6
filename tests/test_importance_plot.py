"""The picture of importances."""

from __future__ import annotations

import numpy as np
import pytest

from lessnaive import NaiveBayes
from lessnaive.datasets import load_penguins

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")


def test_bars_are_the_importances():
    from lessnaive.plot import ImportanceDisplay

    X, y = load_penguins()
    model = NaiveBayes(numeric="gaussian").fit(X, y)
    display = ImportanceDisplay.from_estimator(model, max_terms=5)
    importance = dict(zip(X.columns, model.feature_importances_, strict=True))
    strongest = sorted(importance, key=importance.__getitem__, reverse=True)[:5]
    assert display.names == strongest
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == strongest
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_array_equal(widths, [importance[name] for name in strongest])
    again = ImportanceDisplay(importances=[2.0, 1.0], names=["a", "b"]).plot(ax=display.ax_)
    assert again.ax_ is display.ax_


def test_what_cannot_be_drawn():
    from lessnaive.plot import ImportanceDisplay

    message = r"^ImportanceDisplay draws a classifier of lessnaive, got str\.$"
    with pytest.raises(TypeError, match=message):
        ImportanceDisplay.from_estimator("model")
