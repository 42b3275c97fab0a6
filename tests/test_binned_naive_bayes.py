"""NaiveBayes on bins and groups: closed forms, leaks, model files."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import oracle
from lessnaive import MDLPDiscretizer, MODLEncoder, NaiveBayes, TableError, load, save

METHODS = pytest.mark.parametrize("numeric", ["mdlp", "modl", "quantile"])
MISSING = pytest.mark.parametrize("missing", ["ignore", "category"])


# No expected failures: parametrize_with_checks is given none.
@parametrize_with_checks(
    [
        NaiveBayes(numeric="modl"),
        NaiveBayes(numeric="modl", categorical="modl", missing="category"),
        NaiveBayes(numeric="mdlp", smoothing="laplace", missing="category"),
        NaiveBayes(numeric="quantile", n_bins=8, smoothing=0.1, priors="empirical"),
        NaiveBayes(categorical_features="all", categorical="modl"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def example(seed: int = 0, n: int = 300) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Numbers and text, with gaps that are like some values or unlike all; weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "plain": np.round(rng.normal(2 * y, 1), 1),
            "like": np.round(rng.normal(3 * (y == 0), 1), 1),
            "unlike": np.round(rng.normal(y == 1, 0.5), 1),
            "colour": np.where(y == 0, "red", rng.choice(["green", "blue", "grey"], n)),
            "town": rng.choice([f"town {i}" for i in range(12)], n),
        }
    )
    frame.loc[(frame["like"] > 1.5) & (rng.random(n) < 0.4), "like"] = np.nan
    frame.loc[(frame["colour"] == "red") & (rng.random(n) < 0.4), "colour"] = None
    gone = rng.random(n) < np.where(y == 2, 0.9, 0.03)
    frame.loc[gone, ["unlike", "town"]] = None
    return frame, y, rng.integers(1, 4, n).astype(float)


def quantile_cuts(column: pd.Series, weights: np.ndarray, n_bins: int) -> list[float]:
    """Boundaries between distinct values that come nearest to bins of equal weight."""
    levels = sorted(set(column.dropna()))
    below = [weights[column.to_numpy() <= level].sum() for level in levels]
    wanted = [k * below[-1] / n_bins for k in range(1, n_bins)]
    nearest = {min(range(len(levels) - 1), key=lambda i: abs(below[i] - w)) for w in wanted}
    return sorted((levels[i] + levels[i + 1]) / 2 for i in nearest)


def training_codes(
    model: NaiveBayes, frame: pd.DataFrame, y: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Codes of the rows, 0 for missing values that are left out."""
    modl = MODLEncoder(missing=model.missing).fit(frame, y, weights).transform(frame)
    codes = modl.astype(int)
    for j, name in enumerate(frame.columns):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and model.numeric != "modl":
            if model.numeric == "quantile":
                cuts = quantile_cuts(column, weights, model.n_bins)
            else:
                cuts = MDLPDiscretizer().fit(frame[[name]], y, weights).cuts_[0]
            codes[:, j] = 1 + np.searchsorted(cuts, column)
        elif not pd.api.types.is_numeric_dtype(column) and model.categorical == "values":
            codes[:, j] = 1 + pd.factorize(column)[0]
        else:
            continue
        own = codes[:, j].max() + 1 if model.missing == "category" else 0
        codes[column.isna().to_numpy(), j] = own
    return codes


def scores_by_hand(
    model: NaiveBayes, codes: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Log prior + sum over columns of log (n + s / V) / (N + s), counted row by row."""
    exact = [Fraction(w) for w in weights]
    data = oracle.Data([()] * len(y), y.tolist(), weights.tolist())
    out = np.tile(oracle.log_priors(data, model.priors), (len(y), 1))
    for column in codes.T.tolist():
        values = sorted(set(column) - {0})
        for place, c in enumerate(data.classes):
            counts = dict.fromkeys(values, Fraction(0))
            for code, label, weight in zip(column, y.tolist(), exact, strict=True):
                if code and label == c:
                    counts[code] += weight
            logs = oracle.multinomial(list(counts.values()), model.smoothing)
            score = {0: 0.0, **dict(zip(values, logs, strict=True))}
            out[:, place] += [score[code] for code in column]
    return out


@METHODS
@MISSING
@pytest.mark.parametrize("smoothing", [1.0, "laplace", 0])
@pytest.mark.parametrize("categorical", ["values", "modl"])
def test_scores_by_hand(numeric, missing, smoothing, categorical):
    frame, y, weights = example()
    model = NaiveBayes(
        numeric=numeric, missing=missing, smoothing=smoothing, categorical=categorical, n_bins=7
    ).fit(frame, y, weights)
    codes = training_codes(model, frame, y, weights)
    expected = scores_by_hand(model, codes, y, weights)
    np.testing.assert_allclose(model.predict_joint_log_proba(frame), expected, rtol=1e-12)


def test_missing_values_were_joined_left_alone_and_left_out():
    """The example has all the cases that the closed form is to be tested on."""
    frame, y, weights = example()
    encoder = MODLEncoder().fit(frame, y, weights)
    labels = [encoder.binning_table(j)["bin"].tolist() for j in range(5)]
    assert not any("missing" in label for label in labels[0])
    assert any(label.endswith(" or missing") for label in labels[1])
    assert labels[2][-1] == "missing"
    assert len(labels[2]) > 2
    assert any(label.endswith(" or missing") for label in labels[3])
    assert labels[4][-1] == "missing"


@METHODS
def test_codes_as_categories_give_the_same_model(numeric):
    """What a pipeline of an encoder and a model of categories would do."""
    frame, y, weights = example(1)
    model = NaiveBayes(numeric=numeric, categorical="modl").fit(frame, y, weights)
    codes = training_codes(model, frame, y, weights).astype(object)
    codes[codes == 0] = None
    piped = NaiveBayes(categorical_features="all").fit(codes, y, weights)
    np.testing.assert_allclose(model.predict_proba(frame), piped.predict_proba(codes), rtol=1e-10)


@METHODS
@MISSING
def test_values_that_training_did_not_have(numeric, missing):
    """Numbers outside of the range are in the first or last bin; new categories add nothing."""
    frame, y, weights = example()
    model = NaiveBayes(numeric=numeric, missing=missing, categorical="modl").fit(frame, y, weights)
    rows = frame.dropna().head(1)
    for name, extreme in (("plain", 1e300), ("plain", -1e300), ("like", 1e300)):
        outside = model.predict_joint_log_proba(rows.assign(**{name: extreme}))
        edge = frame[name].max() if extreme > 0 else frame[name].min()
        inside = model.predict_joint_log_proba(rows.assign(**{name: edge}))
        np.testing.assert_array_equal(outside, inside)
    new = rows.assign(town="nowhere", colour="pink")
    contribution = model.scorecard_.explain(new, centred=False)
    assert contribution.names[4:] == ["colour", "town"]
    np.testing.assert_array_equal(contribution[0, 4:], 0.0)


@METHODS
def test_weight_2_is_the_row_twice(numeric):
    frame, y, weights = example(2)
    again = np.repeat(np.arange(len(y)), weights.astype(int))
    model = NaiveBayes(numeric=numeric, categorical="modl", missing="category")
    weighted = clone(model).fit(frame, y, weights).predict_joint_log_proba(frame)
    repeated = clone(model).fit(frame.iloc[again], y[again]).predict_joint_log_proba(frame)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


@METHODS
def test_a_column_of_one_bin_says_nothing(numeric):
    frame, y, _ = example(3)
    frame = frame[["plain"]].assign(constant=7.0)
    with_it = NaiveBayes(numeric=numeric).fit(frame, y)
    without = NaiveBayes(numeric=numeric).fit(frame[["plain"]], y)
    np.testing.assert_allclose(
        with_it.predict_proba(frame), without.predict_proba(frame[["plain"]]), rtol=1e-12
    )


@pytest.mark.parametrize("numeric", ["mdlp", "modl"])
def test_cross_validation_does_not_leak(numeric):
    """Of many columns of noise some have bins; found with the test rows' labels, they tell these.

    Found inside of fit they are worth nothing. The rows are few, so that this shows.
    """
    rng = np.random.default_rng(4)
    y = rng.permutation(np.arange(80) % 2)
    X = rng.normal(size=(80, 1_500))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    honest = cross_val_score(NaiveBayes(numeric=numeric), X, y, cv=folds).mean()
    encoder = MDLPDiscretizer() if numeric == "mdlp" else MODLEncoder()
    codes = encoder.fit(X, y).transform(X)
    leaking = NaiveBayes(categorical_features="all")
    assert cross_val_score(leaking, codes, y, cv=folds).mean() > 0.8
    assert 0.3 < honest < 0.7


@METHODS
@MISSING
def test_model_files(numeric, missing, tmp_path):
    frame, y, weights = example()
    model = NaiveBayes(numeric=numeric, missing=missing, categorical="modl").fit(frame, y, weights)
    save(model, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.get_params() == model.get_params()
    new = frame.assign(town=frame["town"].replace("town 1", "nowhere"), plain=frame["plain"] * 9)
    for table in (frame, new, frame.assign(like=np.nan, colour=None), frame.head(1)):
        expected = model.predict_joint_log_proba(table)
        np.testing.assert_array_equal(loaded.predict_joint_log_proba(table), expected)
    assert loaded.scorecard_.tables().equals(model.scorecard_.tables())
    save(loaded, tmp_path / "again.json")
    first, second = ((tmp_path / name).read_text() for name in ("model.json", "again.json"))
    assert first == second
    assert not hasattr(loaded, "partial_fit")
    loaded.fit(frame, y, weights)
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


def test_rows_cannot_be_added_to_bins_that_fit_has_found():
    frame, y, _ = example()
    for model in (NaiveBayes(numeric="modl"), NaiveBayes(categorical="modl")):
        assert hasattr(model, "partial_fit")
        model.fit(frame, y)
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as caught:
            model.partial_fit(frame, y)
        assert "fit has found bins or groups in all the rows at once" in str(caught.value.__cause__)
    fitted = NaiveBayes(numeric="mdlp").fit(frame, y)
    assert not hasattr(fitted.set_params(numeric="gaussian"), "partial_fit")
    assert hasattr(fitted.fit(frame, y), "partial_fit")


def test_a_failed_fit_changes_nothing():
    frame, y, _ = example()
    model = NaiveBayes(numeric="modl", categorical="modl").fit(frame, y)
    before = model.predict_joint_log_proba(frame)
    for bad in (
        frame.assign(like=np.inf),
        frame.assign(unlike=-np.inf),
        frame.assign(town=10**400),
    ):
        with pytest.raises(TableError):
            model.fit(bad, y)
        np.testing.assert_array_equal(model.predict_joint_log_proba(frame), before)


@pytest.mark.parametrize(("values", "edges"), [
    ([1, 2, 3, 4], [2.5]),
    ([1, 1, 1, 2, 3], [1.5]),
    ([5, 5, 5, 5], []),
    ([0, 1], [0.5]),
])  # fmt: skip
def test_quantiles_of_few_values(values, edges):
    labels = [0, 1] * len(values)
    model = NaiveBayes(numeric="quantile", n_bins=2).fit(
        [[v] for v in values for _ in "01"], labels
    )
    assert model.scorecard_.terms[0].encoding.edges.tolist() == edges


def test_evidence_reads_well():
    frame, y, weights = example()
    model = NaiveBayes(numeric="modl", categorical="modl", missing="category")
    model.fit(frame, y, weights)
    table = model.scorecard_.tables()
    total = table[table["column"] == "unlike"]["count"].sum()
    assert total == pytest.approx(weights.sum())
    summed = model.scorecard_.explain(frame).sum(axis=1)
    np.testing.assert_allclose(summed, model.predict_joint_log_proba(frame), rtol=1e-12)
