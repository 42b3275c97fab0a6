"""Models to save, and what is the same about two models."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lessnaive as ln

N_ROWS = 90


def mixed_table(n_rows: int = N_ROWS, seed: int = 0) -> pd.DataFrame:
    """Every kind of column, each with gaps."""
    rng = np.random.default_rng(seed)
    day = np.datetime64("2024-02-28T23:59:59")
    table = pd.DataFrame(
        {
            "number": rng.normal(1e8, 1.0, n_rows),
            "tiny": rng.normal(0.0, 1e-12, n_rows),
            "count": rng.integers(0, 7, n_rows).astype(float),
            "text": rng.choice(["", "ash", "élan", "木", "\U0001f332", '"\\\n\x00'], n_rows),
            "boolean": rng.choice(np.array([True, False], dtype=object), n_rows),
            "category": pd.Categorical(rng.choice(["b", "a"], n_rows), categories=["b", "a", "c"]),
            "mixed": rng.choice(np.array([1, 2.5, -(2**70), "1", "x"], dtype=object), n_rows),
            "date": day + rng.integers(0, 10**9, n_rows).astype("timedelta64[s]"),
            "duration": rng.integers(0, 10**9, n_rows).astype("timedelta64[us]"),
        }
    )
    return table.mask(rng.random(table.shape) < 0.15)


def labels(n_classes: int, n_rows: int = N_ROWS) -> np.ndarray:
    return np.random.default_rng(1).permutation(np.arange(n_rows) % n_classes)


def equal(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are equal: lists and tuples differ, 1.0 and 1 do too."""
    if isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and one.dtype == other.dtype and (one == other).all()
    if isinstance(other, list | tuple):
        return type(one) is type(other) and all(map(equal, one, other)) and len(one) == len(other)
    other = other.item() if isinstance(other, np.generic) else other
    return type(one) is type(other) and one == other


def check_same(model: Any, again: Any, X: Any) -> None:
    assert type(again) is type(model)
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    assert again.classes_.dtype.kind == model.classes_.dtype.kind
    assert [type(c) for c in again.classes_.tolist()] == [type(c) for c in model.classes_.tolist()]
    np.testing.assert_array_equal(again.classes_, model.classes_)
    for name in ("class_count_", "class_log_prior_"):
        if hasattr(model, name):
            np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.n_features_in_ == model.n_features_in_
    assert hasattr(again, "feature_names_in_") == hasattr(model, "feature_names_in_")
    if hasattr(model, "feature_names_in_"):
        np.testing.assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    assert again.scorecard_.to_plain() == model.scorecard_.to_plain()
    pd.testing.assert_frame_equal(again.scorecard_.tables(), model.scorecard_.tables())
    assert again.get_params().keys() == model.get_params().keys()
    for name, value in model.get_params().items():
        assert equal(again.get_params()[name], value), name


def round_trip(model: Any, folder: Any) -> Any:
    """Save and load, and see that the copy gives the same file again."""
    ln.save(model, folder / "model.json")
    again = ln.load(folder / "model.json")
    ln.save(again, folder / "again.json")
    assert (folder / "again.json").read_bytes() == (folder / "model.json").read_bytes()
    return again


def document_of(model: Any) -> dict[str, Any]:
    """What a model file holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        ln.save(model, path)
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document


_X = pd.DataFrame(
    {
        "text": ["a", "b", "b", None, "c", "a"],
        "number": [1.0, 2.0, 4.0, np.nan, 3.5, 0.25],
        "flag": [True, False, None, True, True, False],
        "mixed": pd.Series([1, "x", 2.5, True, "x", 7], dtype=object),
        "day": pd.to_datetime(["2024-01-01", "2024-02-01", None, "2024-01-07", "2024-03-01", None]),
    }
)
_MODELS = [
    ln.NaiveBayes(numeric="gaussian", missing="category").fit(_X, ["u", "v", "w", "u", "v", "w"]),
    ln.NaiveBayes(beta=(2, np.ones((2, 1))), priors=np.array([0.5, 0.5])).partial_fit(
        _X, [1, 0, 1, 1, 0, 1], classes=[0, 1]
    ),
    ln.NaiveBayes(categorical_features=np.array([0])).fit(
        np.array([[1.0, 2.0], [2.0, 3.0], [1.0, 5.0]]), [False, True, False]
    ),
    ln.NaiveBayes(numeric="quantile", categorical="modl", n_bins=3).fit(_X, [1, 0, 1, 1, 0, 1]),
    # Summaries with rows that wait, bins in use, and values that are not kept.
    ln.NaiveBayes(
        numeric="modl", categorical="modl", summary_size=2, max_values=2, forgetting=0.9
    ).partial_fit(_X, [1, 0, 1, 1, 0, 1], sample_weight=[300.0] * 6),
    ln.SelectiveNB(criterion="log_loss", patience=2).fit(_X, ["u", "v", "w", "u", "v", "w"]),
    ln.RelevanceWeightedNB().fit(_X, [1, 0, 1, 1, 0, 1]),
    ln.AveragedNB(lam=0.1, numeric="gaussian", costs=np.ones(5)).fit(_X, [1, 0, 1, 1, 0, 1]),
    ln.GroupLassoNB(lam="cv", cv=2, n_lams=3).fit(_X, [1, 0, 1, 1, 0, 0]),
    ln.StagewiseNB(average=True, epsilon=1 / 2, missing="category").fit(_X, [1, 0, 1, 1, 0, 1]),
    ln.BaristaNB(start=np.ones((2, 5)), numeric="gaussian").fit(_X, [1, 0, 1, 1, 0, 1]),
    ln.BaristaNBCV(grid=([1.0, 0.1], [0.1]), cv=2).fit(_X, [1, 0, 1, 1, 0, 1]),
    ln.FractionalNB(p=0.5, costs=[1.0, 2.0, 1.0, 1.0, 1.0]).fit(_X, [1, 0, 1, 1, 0, 1]),
    ln.FractionalNB(costs={"flag": 2.0}, solver="pgdmb", rprop=(0.5, 1.1)).fit(
        _X, [1, 0, 1, 1, 0, 1]
    ),
    ln.AttributeWeightedNB(weights="mixed", loss="squared").fit(_X, [1, 0, 1, 1, 0, 1]),
    ln.NBLogisticCV(n_lams=3, cv=2).fit(_X, [1, 0, 1, 1, 0, 0]),
    ln.NBLogistic(lam=0.1).fit(_X, ["u", "v", "w", "u", "v", "w"]),
    ln.HybridLRNB(assignment="cv", cv=2, lam=0.1).fit(_X, [1, 0, 1, 1, 0, 0]),
    ln.HybridLRNB(assignment=["text", "number"], lam=0.1).fit(_X, ["u", "v", "w", "u", "v", "w"]),
    ln.FractionalNB(batch_size=4, history_size=5, summary_size=2, max_values=2).partial_fit(
        _X, [1, 0, 1, 1, 0, 1]
    ),
    ln.LessNaiveClassifier(class_weight={"u": 2.0}, monotonic_cst=None).fit(
        _X, ["u", "v", "w", "u", "v", "w"]
    ),
    ln.fit_binned(
        ln.NaiveBayes(), ln.MODLEncoder(special_values={"number": [2.0]}), _X, [1, 0, 1, 1, 0, 1]
    ),
    ln.LessNaiveClassifier(pairs=2, class_weight={0: 2.0, 1: 1.5}).fit(
        pd.concat([_X] * 120), np.tile([1, 0, 1, 1, 0, 0], 120) ^ (np.arange(720) % 7 == 0)
    ),
    # Other likelihoods of numbers, and designs of lines and bins.
    ln.NaiveBayes(numeric="kernel").fit(_X[["text", "number"]], ["u", "v", "w", "u", "v", "w"]),
    ln.NaiveBayes(numeric="poisson").partial_fit(
        _X[["text", "number", "flag"]].round(), [1, 0, 1, 1, 0, 1], classes=[0, 1]
    ),
    ln.NaiveBayes(numeric="gaussian_shared", variance_prior=0.5).partial_fit(
        _X, [1, 0, 1, 1, 0, 1], classes=[0, 1]
    ),
    ln.NBLogistic(numeric="both", missing="category", n_bins=3).fit(_X, [1, 0, 1, 1, 0, 0]),
    ln.NBLogisticCV(numeric="quantile", l1_ratio=0.5, n_lams=3, cv=2, n_bins=3).fit(
        _X, ["u", "v", "w", "u", "v", "w"]
    ),
]

#: Documents to damage: three classes and all kinds of columns; parameters that are arrays; unnamed
#: columns; intervals and groups; paths of selection and of penalties; weights, learned and mixed.
DOCUMENTS = [document_of(model) for model in _MODELS]
