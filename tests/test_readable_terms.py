"""Terms as people read them: lines by what their column has, dates as dates."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from lessnaive import NaiveBayes, NBLogistic
from lessnaive.exceptions import ModelFormatError
from lessnaive.plain import Node
from lessnaive.scorecard import LinearTerm
from lessnaive.scorecard.terms.spread import Spread
from lessnaive.scorecard.terms.wording import amount_text, number_text
from lessnaive.table import Kind

rng = np.random.default_rng(0)


def dates(n_rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Days of two years, of which the first says more often no."""
    days = rng.integers(0, 730, n_rows)
    X = pd.DataFrame({"day": pd.Timestamp("2021-01-01") + pd.to_timedelta(days, unit="D")})
    return X, np.where(days / 730 + rng.normal(0, 0.3, n_rows) > 0.5, "yes", "no")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [1, 7, 10, 101])
def test_spread_by_hand(weighted, n_rows):
    values = rng.normal(size=n_rows).round(1)
    weights = rng.integers(1, 5, n_rows).astype(float)
    rows = np.repeat(values, weights.astype(int)) if weighted else values
    found = Spread.of(np.append(values, np.nan), np.append(weights, 3.0) if weighted else None)
    low, high = (np.quantile(rows, share, method="inverted_cdf") for share in (0.1, 0.9))
    assert (found.low, found.high) == (low, high)
    assert found.deviation == pytest.approx(rows.std(), abs=1e-15)


def test_no_values_have_no_spread():
    assert Spread.of(np.array([np.nan, np.nan])) is None
    assert Spread.of(np.array([1.0, np.nan]), np.array([0.0, 1.0])) is None
    assert Spread.of(np.array([1e300, -1e300])) == (1e300, -1e300, 1e300)


def test_a_line_reads_as_what_its_column_has():
    x = rng.normal(1000.0, 20.0, 200)
    y = x + rng.normal(0, 20, 200) > 1000
    model = NBLogistic().fit(x[:, None], y)
    (term,) = model.scorecard_.terms
    rise, way = term.rows(model.scorecard_.schema.kinds)
    low, high = np.quantile(x, [0.1, 0.9], method="inverted_cdf")
    assert rise.label == f"+ {x.std():.4g} (1 standard deviation)"
    np.testing.assert_allclose(rise.scores, term.slope * x.std())
    assert way.label == f"{low:.4g} to {high:.4g} (10 % to 90 %)"
    np.testing.assert_allclose(way.scores, term.slope * (high - low))
    for centred in (True, False):  # differences have no place of their own
        table = model.scorecard_.tables("pandas", centred=centred)
        np.testing.assert_allclose(table["score"][:2], rise.scores)
    doubled = term.scaled(np.array([2.0, 2.0]))
    assert doubled.spread == term.spread
    again = LinearTerm.from_plain(Node(term.to_plain()), model.scorecard_.schema, 2)
    assert again.spread == term.spread


@pytest.mark.parametrize("spread", [[-1.0, 0.0, 1.0], [1.0, 2.0, 1.0], [1.0, 2.0], "wide"])
def test_a_damaged_spread_is_refused(spread):
    model = NBLogistic().fit([[1.0], [2.0], [4.0]], [0, 1, 1])
    plain = {**model.scorecard_.terms[0].to_plain(), "spread": spread}
    with pytest.raises(ModelFormatError, match="spread"):
        LinearTerm.from_plain(Node(plain), model.scorecard_.schema, 2)


def test_tables_that_are_centred():
    X = pd.DataFrame({"t": ["a", "a", "b", None]})
    card = NaiveBayes(missing="category").fit(X, [0, 1, 0, 1]).scorecard_
    raw, centred = card.tables("pandas"), card.tables("pandas", centred=True)
    mean = np.tile(card.mean[0], 3)
    np.testing.assert_allclose(centred["score"], raw["score"] - mean)
    by_value = (centred["score"] * np.repeat([1, 2, 1], 2)).to_numpy().reshape(3, 2)
    assert centred["value"].tolist()[::2] == ["(missing)", "a", "b"]
    np.testing.assert_allclose(by_value.sum(axis=0), 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("seconds", "kind", "text"),
    [
        (0.0, Kind.DATETIME, "1970-01-01"),
        (-0.5, Kind.DATETIME, "1969-12-31 23:59:59.500000"),
        (1e300, Kind.DATETIME, "1e+300 s"),
        (90_061.0, Kind.DURATION, "1 day, 1:01:01"),
        (1e300, Kind.DURATION, "1e+300 s"),
        (1234.5678, Kind.NUMBER, "1234.57"),
    ],
)
def test_numbers_as_text(seconds, kind, text):
    assert number_text(seconds, kind) == text


def test_differences_as_text():
    assert amount_text(86_400.0 * 3.25, Kind.DATETIME) == "3.25 days"
    assert amount_text(3723.4, Kind.DURATION) == "1:02:03"
    assert amount_text(0.123456, Kind.DURATION) == "0.1235 s"
    assert amount_text(86_400.0 * 3, Kind.NUMBER) == "2.592e+05"


def test_dates_read_as_dates():
    X, y = dates()
    labels = NaiveBayes(numeric="quantile", n_bins=4).fit(X, y).scorecard_.tables("pandas")["value"]
    for label in labels:
        for part in label.strip("<>=( ]").split(", "):
            assert dt.datetime(2021, 1, 1) <= dt.datetime.fromisoformat(part)
    values = NaiveBayes(categorical_features="all").fit(X, y).scorecard_.tables("pandas")["value"]
    assert set(values) == {str(day.date()) for day in X["day"]}
    (first, second) = NaiveBayes(numeric="gaussian").fit(X, y).scorecard_.tables("pandas")["value"]
    assert first.startswith("2021-")
    assert first.split(" ± ")[1].endswith(" days")
    assert second.startswith("202")
    card = NBLogistic().fit(X, y).scorecard_
    rise, way = (row.label for row in card.terms[0].rows(card.schema.kinds))
    deviation = X["day"].std(ddof=0).total_seconds() / 86_400
    assert rise == f"+ {deviation:.4g} days (1 standard deviation)"
    low, _, high = way.split(" (")[0].partition(" to ")
    days = np.sort(X["day"])
    assert [low, high] == [str(days[k])[:10] for k in (11, 107)]
