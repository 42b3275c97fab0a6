"""Bins that people have a say in: special values, directions, cuts and groups."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import lessnaive as ln
from lessnaive.encoding.monotone import best_monotone_partition, partition_cost
from modl_oracle import numeric_cost, numeric_preparation_cost, total


def rng_table(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, n_rows).astype(float)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-(x - 20) / 6))).astype(int)
    x[rng.random(n_rows) < 0.1] = -1.0
    x[rng.random(n_rows) < 0.05] = np.nan
    c = rng.choice(np.array(["a", "b", "c", "d", "unknown", None], dtype=object), n_rows)
    return pd.DataFrame({"x": x, "c": c}), y


def brute_force(parts, sign):
    """The least cost over all monotone partitions, by trying all of them."""
    best = np.inf
    size = len(parts)
    for n_cuts in range(size):
        for cuts in combinations(range(1, size), n_cuts):
            ends = [0, *cuts, size]
            bins = [total(parts[a:b]) for a, b in pairwise(ends)]
            shares = [own[1] / sum(own) for own in bins]
            pairs = pairwise(shares)
            if all(sign * a <= sign * b for a, b in pairs):
                best = min(best, numeric_cost(bins))
    return best


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_partitions_are_the_best(seed, sign):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 11))
    rates = rng.random(size) if seed % 2 else np.sort(rng.random(size))
    weights = rng.integers(1, 40, size)
    ones = rng.binomial(weights, rates)
    parts = np.stack([weights - ones, ones], axis=1).astype(float)
    if seed % 5 == 0:
        parts *= 0.75  # weights need not be whole
    ends = [0, *best_monotone_partition(parts, sign)]
    bins = np.array([parts[a:b].sum(axis=0) for a, b in pairwise(ends)])
    shares = bins[:, 1] / bins.sum(axis=1)
    assert (np.diff(shares) * sign >= 0).all()
    cost, prior = partition_cost(bins)
    assert cost == pytest.approx(brute_force(parts.tolist(), sign), abs=1e-9)
    assert prior == pytest.approx(numeric_preparation_cost(bins.tolist()), abs=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_encoder_finds_monotone_bins(sign):
    X, y = rng_table()
    encoder = ln.MODLEncoder(monotonic_cst={"x": sign}).fit(X, y)
    table = encoder.binning_table("x", "pandas")
    shares = table["p[1]"].to_numpy()[: len(encoder.bins_[0])]
    assert (np.diff(shares) * sign >= 0).all()
    known = X["x"].notna()
    levels = np.unique(X["x"][known])
    parts = [[(y[(X["x"] == v)] == c).sum() for c in (0, 1)] for v in levels]
    # Few enough values to try all: those of the column in five steps.
    steps = np.array_split(np.arange(len(levels)), 9)
    coarse = [total([parts[i] for i in own]) for own in steps]
    numbers = np.searchsorted([levels[own[-1]] for own in steps], X["x"][known])
    small = ln.MODLEncoder(monotonic_cst=[sign]).fit(numbers[:, None], y[known])
    assert small.cost_[0] == pytest.approx(brute_force(coarse, sign), abs=1e-9)
    assert encoder.cost_[0] <= small.cost_[0] + 1e-9


def test_a_monotone_optimum_is_kept():
    """Where the best bins are monotone anyway, nothing changes."""
    X, y = rng_table(2000)
    known = X["x"] >= 0
    X, y = X.loc[known, ["x"]], y[known]
    free = ln.MODLEncoder().fit(X, y)
    shares = free.binning_table("x", "pandas")["p[1]"]
    assert shares.is_monotonic_increasing
    bound = ln.MODLEncoder(monotonic_cst={"x": 1}).fit(X, y)
    assert bound.cost_[0] == pytest.approx(free.cost_[0], abs=1e-9)
    np.testing.assert_array_equal(bound.cuts_[0], free.cuts_[0])


def test_columns_of_many_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 1))
    y = (rng.random(5000) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    free, bound = ln.MODLEncoder().fit(X, y), ln.MODLEncoder(monotonic_cst=[1]).fit(X, y)
    assert free.cost_[0] - 1e-9 <= bound.cost_[0] <= free.cost_[0] * 1.01
    shares = bound.binning_table(0, "pandas")["p[1]"]
    assert shares.is_monotonic_increasing
    assert len(shares) > 3


def test_special_values_are_bins_of_their_own():
    X, y = rng_table()
    for encoder in (
        ln.MODLEncoder(special_values={"x": [-1], "c": ["unknown"]}),
        ln.MDLPDiscretizer(special_values={"x": [-1]}),
    ):
        columns = X if isinstance(encoder, ln.MODLEncoder) else X[["x"]]
        encoder.fit(columns, y)
        rest = X["x"].replace(-1.0, np.nan)
        alone = type(encoder)().fit(rest.dropna().to_frame(), y[rest.notna()])
        np.testing.assert_array_equal(encoder.cuts_[0], alone.cuts_[0])
        labels = encoder.binning_table("x", "pandas")
        [row] = labels[labels["bin"] == "-1"].to_dict("records")
        assert row["count"] == (X["x"] == -1).sum()
        codes = encoder.transform(columns)[:, 0]
        assert set(codes[X["x"] == -1]) == {len(encoder.bins_[0]) + 1}
        assert len(encoder.bins_[0]) + 1 not in codes[X["x"] != -1]
    encoder = ln.MODLEncoder(special_values={"c": ["unknown"]}).fit(X, y)
    assert ["unknown"] in encoder.groups_[1]


def test_cuts_and_groups_by_hand():
    X, y = rng_table()
    encoder = ln.MODLEncoder(
        cuts={"x": [9.5, 20.0]}, groups={"c": [["a", "b"], ["c", "d", None], ["unknown", "new"]]}
    ).fit(X, y)
    assert encoder.cuts_[0].tolist() == [9.5, 20.0]
    assert encoder.groups_[1] == [["a", "b"], ["c", "d", None], ["unknown", "new"]]
    codes = encoder.transform(pd.DataFrame({"x": [20.0, 21.0, None], "c": ["new", None, "z"]}))
    assert codes.tolist() == [[2, 3], [3, 2], [4, 4]]
    counts = encoder.binning_table("x", "pandas")["count"].tolist()
    assert counts[:3] == [(X["x"] <= 9.5).sum(), X["x"].between(9.6, 20).sum(), (X["x"] > 20).sum()]
    assert counts[3] == X["x"].isna().sum()
    table = encoder.binning_table("x", "pandas")[["count[0]", "count[1]"]].to_numpy()
    assert encoder.cost_[0] == pytest.approx(numeric_cost(table[:3].tolist()))


def test_missing_values_may_be_a_group_of_their_own():
    X, y = rng_table()
    for missing in ("category", "ignore"):
        encoder = ln.MODLEncoder(
            groups={"c": [[None], ["a", "b"], ["c", "d", "unknown"]]}, missing=missing
        ).fit(X, y)
        assert encoder.groups_[1] == [["a", "b"], ["c", "d", "unknown"], [None]]
        table = encoder.binning_table("c", "pandas")
        assert table["bin"].tolist() == ["a, b", "c, d, unknown", "missing"]
        assert table["count"].tolist()[2] == X["c"].isna().sum()
        codes = encoder.transform(pd.DataFrame({"x": [1.0] * 3, "c": [None, "b", "z"]}))[:, 1]
        assert codes.tolist() == [3, 1, 4]


def test_special_values_with_cuts_and_directions():
    X, y = rng_table()
    cut = ln.MODLEncoder(cuts={"x": [20.0]}, special_values={"x": [-1, 7]}).fit(X, y)
    assert cut.transform(pd.DataFrame({"x": [-1.0, 7, 8, 30], "c": ["a"] * 4}))[:, 0].tolist() == [
        *(3, 4, 1, 2)
    ]
    bound = ln.MODLEncoder(monotonic_cst={"x": 1}, special_values={"x": [-1]}).fit(X, y)
    shares = bound.binning_table("x", "pandas")["p[1]"].to_numpy()[: len(bound.bins_[0])]
    assert (np.diff(shares) >= 0).all()


ENCODER = ln.MODLEncoder(
    special_values={"x": [-1], "c": ["unknown"]}, cuts={"x": [9.5, 20.0]}, missing="ignore"
)


AVERAGES = {
    "average": lambda **given: ln.StagewiseNB(average=True, **given),
    "mixed": lambda **given: ln.AttributeWeightedNB(weights="mixed", **given),
}


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("name", [*ln.models.__all__, *AVERAGES])
def test_every_model_takes_edited_bins(name, missing, tmp_path):
    """It is the model of the codes, as a scorecard of the columns, or as an average of some."""
    X, y = rng_table()
    make = AVERAGES.get(name) or getattr(ln, name)
    encoder = clone(ENCODER).set_params(missing=missing)
    model = ln.fit_binned(make(), encoder, X, y)
    encoder.fit(X, y)
    new, _ = rng_table(seed=1)
    new = pd.concat([new, pd.DataFrame({"x": [-1.0, 9.5, None], "c": ["z", None, "unknown"]})])
    codes = pd.DataFrame(encoder.transform(new), columns=["x", "c"]).astype(object)
    known = pd.DataFrame(encoder.transform(X), columns=["x", "c"]).astype(object)
    plain = make(categorical_features="all")
    plain.fit(known.mask(known == 0), y)
    wanted = plain.predict_proba(codes.mask(codes == 0))
    np.testing.assert_allclose(model.predict_proba(new), wanted, rtol=0, atol=1e-12)
    assert model.scorecard_.schema.kinds == encoder._schema.kinds
    np.testing.assert_allclose(model.scorecard_.mean, plain.scorecard_.mean, atol=1e-12)
    for term in model.scorecard_.terms:  # each row is in one bin, however the model joins them
        np.testing.assert_allclose(term.typical_rows()[1].sum(axis=0), np.bincount(y))
        if term.name == "x":
            assert term.counts[0].sum() == X["x"].isna().sum()
            assert term.counts[4].sum() == (X["x"] == -1).sum()
    ln.save(model, tmp_path / "m.json")
    again = ln.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_designs_of_edited_bins_are_named_by_bins():
    X, y = rng_table()
    encoder = ln.MODLEncoder(cuts={"x": [9.5, 20.0]}, groups={"c": [["a", "b"], ["c"], [None]]})
    X = X[~X["c"].isin(["d", "unknown"])]
    model = ln.fit_binned(ln.NBLogistic(), encoder, X, y[X.index])
    assert model.design_names_ == [
        "x=(9.5, 20]",
        "x=> 20",
        "x=(missing)",
        "c=c",
        "c=(missing)",
    ]
    assert len(model.design_names_) == model.coef_.shape[1]


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_bins_of_the_encoder_are_those_of_naive_bayes(missing):
    """With its own bins it is naive Bayes with numeric="modl" and categorical="modl"."""
    X, y = rng_table()
    model = ln.fit_binned(ln.NaiveBayes(), ln.MODLEncoder(missing=missing), X, y)
    wanted = ln.NaiveBayes(numeric="modl", categorical="modl", missing=missing).fit(X, y)
    new, _ = rng_table(seed=1)
    np.testing.assert_allclose(model.predict_proba(new), wanted.predict_proba(new), atol=1e-12)
    counts = [term.counts.sum() for term in model.scorecard_.terms]
    assert counts == [len(X)] * 2


def test_what_cannot_be_binned():
    X, y = rng_table()
    with pytest.raises(TypeError, match="model must be a classifier of lessnaive, got int"):
        ln.fit_binned(3, ENCODER, X, y)
    with pytest.raises(TypeError, match="encoder must be a MODLEncoder or MDLPDiscretizer, got st"):
        ln.fit_binned(ln.NaiveBayes(), "modl", X, y)
    with pytest.raises(AttributeError):
        ln.fit_binned(ln.NaiveBayes(), ENCODER, X, y).partial_fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cuts": {"z": [1.0]}}, "cuts names 'z', which is not a column of the table: 'x', 'c'"),
        ({"cuts": {"c": [1.0]}}, "cuts names the column 'c', which is categorical"),
        ({"groups": {"x": [["a"]]}}, "groups names the column 'x', which is numeric"),
        ({"cuts": {"x": [2.0, 1.0]}}, "cuts of 'x' must be finite numbers in increasing order"),
        ({"groups": {"c": [["a"], ["b"]]}}, "groups of 'c' lack '.*', which the table has: add it"),
        ({"groups": {"c": [["a"], ["a"]]}}, "groups of 'c' have a value twice"),
        ({"monotonic_cst": {"x": 2}}, "monotonic_cst must be -1, 0 or 1 for each column"),
        ({"monotonic_cst": [1]}, "monotonic_cst has 1 items, but the table has 2 columns"),
        ({"monotonic_cst": {"x": 1}, "cuts": {"x": [1]}}, "cuts and monotonic_cst both name 'x'"),
        ({"special_values": {"x": ["a"]}}, "special_values of the numeric column 'x' must be numb"),
        ({"special_values": {"x": [np.nan]}}, "special_values of 'x' must be finite"),
        ({"special_values": {"x": -1}}, "special_values of 'x' must be a list, got -1"),
        ({"special_values": {"c": "unknown"}}, "special_values of 'c' must be a list, got 'unknow"),
        ({"groups": {"c": "abcd"}}, "groups of 'c' must be a list of lists of values, got 'abcd'"),
        ({"groups": {"c": ["ab", "cd"]}}, "groups of 'c' must be lists of values, got 'ab'"),
    ],
)
def test_wrong_wishes(parameters, message):
    X, y = rng_table()
    with pytest.raises(ValueError, match=message):
        ln.MODLEncoder(**parameters).fit(X, y)


def test_directions_need_two_classes():
    X, _ = rng_table()
    with pytest.raises(ValueError, match="monotonic_cst is for two classes, and there are 3"):
        ln.MODLEncoder(monotonic_cst={"x": 1}).fit(X, np.arange(len(X)) % 3)


def test_weight_two_is_the_row_twice():
    X, y = rng_table()
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    options = {"monotonic_cst": {"x": 1}, "special_values": {"x": [-1], "c": ["unknown"]}}
    one = ln.MODLEncoder(**options).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(X)), weights)
    two = ln.MODLEncoder(**options).fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(one.cuts_[0], two.cuts_[0])
    np.testing.assert_allclose(one.cost_, two.cost_)
    assert one.groups_ == two.groups_
