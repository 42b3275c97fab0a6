"""Model files: what is saved comes back, to the last bit."""

from __future__ import annotations

import copy
import datetime
import json
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError

import lessnaive
from lessnaive.models import registry
from lessnaive.models.base import ScorecardClassifier
from model_files import N_ROWS, check_same, document_of, labels, mixed_table, round_trip
from published import NaiveBayes


@pytest.mark.parametrize("missing", ["ignore", "category"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"categorical_features": "all"},
        {"categorical_features": ["count"], "smoothing": "laplace", "priors": "laplace"},
        {"categorical_features": None, "smoothing": 0, "variance_floor": 0.0},
        {"numeric": "gaussian_shared", "beta": (1.5, 0.1), "priors": "empirical"},
        {"numeric": "kernel"},
        {"beta": [1, np.full((3, 1), 2.0)], "priors": [0.1, 0.2, 0.7]},
        {"beta": (np.float32(1.1), np.ones((3, 9))), "priors": np.array([0.0, 0.2, 0.8])},
    ],
)
def test_mixed_columns_round_trip(parameters: dict[str, Any], missing: str, tmp_path: Any) -> None:
    X, y = mixed_table(), labels(3)
    model = NaiveBayes(missing=missing, **parameters).fit(X, y, np.linspace(0, 3, N_ROWS))
    check_same(model, round_trip(model, tmp_path), X)


@pytest.mark.parametrize(
    "given",
    [
        ["count", "text"],
        [2, -1],
        (2, 3),
        range(3),
        np.array([0, 2]),
        np.array([0, 2], dtype=np.uint8),
        [np.int64(2)],
        np.arange(9) % 2 == 0,
        [np.bool_(i == 2) for i in range(9)],
        np.array(["count", "date"]),
        np.array(["count", "date"], dtype=object),
        pd.Index(["count"]),
        pd.Series([True] * 9),
        [],
    ],
    ids=repr,
)
def test_lists_of_columns_keep_their_meaning(given: Any, tmp_path: Any) -> None:
    X, y = mixed_table(), labels(2)
    model = NaiveBayes(categorical_features=given).fit(X, y)
    again = round_trip(model, tmp_path)
    np.testing.assert_array_equal(again.categorical_features, given)
    # The parameter is looked at again by fit.
    refitted = clone(again).fit(X, y)
    assert refitted.scorecard_.to_plain() == model.scorecard_.to_plain()


@pytest.mark.parametrize(
    "classes",
    [
        np.array([3, 5]),
        np.array([-3, 5], dtype=np.int8),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([False, True]),
        np.array([0.0, 1e15]),
        np.array([0.5, 7.0], dtype=np.float32).round(),
        np.array(["a", "ü\U0001f332"]),
        np.array(["a", "b"], dtype=object),
        np.array([1, 2**80], dtype=object),
        np.array([False, True], dtype=object),
        np.arange(30),
        np.array([f"class {c:02}" for c in range(30)], dtype=object),
    ],
    ids=lambda classes: f"{classes.dtype}-{len(classes)}",
)
def test_classes_keep_their_type(classes: np.ndarray, tmp_path: Any) -> None:
    X = mixed_table()
    model = NaiveBayes().fit(X, classes[labels(len(classes))])
    again = round_trip(model, tmp_path)
    check_same(model, again, X)
    if classes.dtype.kind != "U":
        assert again.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool, "datetime64[s]"])
def test_unnamed_columns_round_trip(dtype: Any, tmp_path: Any) -> None:
    X = np.random.default_rng(0).integers(0, 2, (N_ROWS, 4)).astype(dtype)
    model = NaiveBayes().fit(X, labels(2))
    again = round_trip(model, tmp_path)
    check_same(model, again, X)
    assert not hasattr(again, "feature_names_in_")


def test_values_keep_their_type(tmp_path: Any) -> None:
    columns = {
        "flag": [True, False, True, True],
        "mixed": [True, "1", 2, 2.5],
        "number": [1, 2, 10**20, 0.1],
    }
    X = pd.DataFrame(columns, dtype=object)
    model = NaiveBayes(categorical_features="all").fit(X, [0, 1, 0, 1])
    terms = round_trip(model, tmp_path).scorecard_.terms
    kept = [[(type(level), level) for level in term.levels] for term in terms]
    assert kept == [
        [(bool, False), (bool, True)],
        [(bool, True), (int, 2), (float, 2.5), (str, "1")],
        [(float, 0.1), (int, 1), (int, 2), (int, 10**20)],
    ]


@pytest.mark.parametrize("parameters", [{}, {"missing": "category", "beta": (2, 3)}])
@pytest.mark.parametrize("start", ["fit", "partial_fit", "fixed classes", "one class"])
def test_partial_fit_goes_on_as_if_never_saved(
    start: str, parameters: dict[str, Any], tmp_path: Any
) -> None:
    X, y = mixed_table(3 * N_ROWS), labels(3, 3 * N_ROWS)
    X.loc[X.index[:10], "boolean"] = None
    first, then, last = slice(0, 10), slice(10, 100), slice(100, None)
    model = NaiveBayes(**parameters)
    if start == "fit":
        model.fit(X[then], y[then])
    elif start == "partial_fit":
        X.loc[X.index[first], ["number", "text", "date"]] = None  # of unknown kind as yet
        model.partial_fit(X[first], y[first])
    elif start == "fixed classes":
        model.partial_fit(X[first], y[first], classes=[0, 1, 2, 7])
    else:
        model.partial_fit(X[first][y[first] == 1], y[first][y[first] == 1])
    again = round_trip(model, tmp_path)
    check_same(model, again, X[first])
    for rows in (then, last):
        model.partial_fit(X[rows], y[rows])
        again.partial_fit(X[rows], y[rows])
        again = round_trip(again, tmp_path)
        check_same(model, again, X)
    if start == "fixed classes":
        with pytest.raises(ValueError, match="y holds the class 9, which is not among the classes"):
            again.partial_fit(X[:1], [9])
    else:
        again.partial_fit(X[:1], [9])
        assert again.classes_.tolist() == [0, 1, 2, 9]


def test_the_scores_are_the_model(tmp_path: Any) -> None:
    """Predictions come from the scores of the file, whatever its counts and parameters say."""
    X, y = mixed_table(), labels(2)
    model = NaiveBayes().fit(X, y)
    before = model.predict_proba(X)
    model.set_params(smoothing=100.0, priors="uniform", missing="category")
    again = round_trip(model, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), before)
    assert again.smoothing == 100.0

    path = tmp_path / "model.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["scorecard"]["intercept"] = [50.0, -50.0]
    path.write_text(json.dumps(document))
    edited = lessnaive.load(path)
    assert edited.predict(X).tolist() == [0] * N_ROWS
    assert edited.class_log_prior_.tolist() == [50.0, -50.0]


def test_parameters_of_later_versions_have_their_defaults(tmp_path: Any) -> None:
    document = document_of(NaiveBayes(smoothing=3.0).fit(mixed_table(), labels(2)))
    del document["parameters"]["variance_floor"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    again = lessnaive.load(tmp_path / "model.json")
    assert again.get_params() == NaiveBayes(smoothing=3.0).get_params()


def test_a_hundred_thousand_values(tmp_path: Any) -> None:
    n = 10**5
    X = pl.DataFrame({"id": [f"n° {i}" for i in range(n)], "code": range(0, 7 * n, 7)})
    model = NaiveBayes(categorical_features=["code"]).fit(X, np.arange(n) % 3)
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert [len(term.levels) for term in again.scorecard_.terms] == [n, n]


def test_estimators_with_a_scorecard_only(tmp_path: Any, monkeypatch: Any) -> None:
    """A new estimator that is registered and has a scorecard needs nothing else to be saved."""

    class Borrowed(ScorecardClassifier):
        def __init__(self, penalty: float = 1.0) -> None:
            self.penalty = penalty

        def fit(self, X: Any, y: Any) -> Borrowed:
            self._scorecard = NaiveBayes().fit(X, y).scorecard_
            self._set_columns_and_classes(self._scorecard.schema, self._scorecard.classes)
            return self

        @property
        def scorecard_(self) -> Any:
            return self._scorecard

        _parameter_constraints = {"penalty": [float]}  # noqa: RUF012

    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry.register(Borrowed)
    X, y = mixed_table(), labels(2)
    model = Borrowed(penalty=2.0).fit(X, y)
    again = round_trip(model, tmp_path)
    assert type(again) is Borrowed
    assert again.penalty == 2.0
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_same_bytes_in_every_process(tmp_path: Any) -> None:
    script = (
        "import sys, lessnaive\n"
        "X = [['b', 1.0, True], ['a', 2.0, False], ['c', 3.5, None], ['a', None, True]]\n"
        "model = lessnaive.NaiveBayes(categorical_features=['x1']).set_params(\n"
        "    categorical_features='from_dtype').fit(X, ['u', 'v', 'u', 'v'])\n"
        "lessnaive.save(model, sys.argv[1])\n"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script, str(tmp_path / seed)]
        subprocess.run(command, env=environment, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_the_file_is_text_that_people_can_read(tmp_path: Any) -> None:
    X = pd.DataFrame({"größe": ["S", "M", "M", "S"], "x": [1.0, 2.0, 4.0, 8.0]})
    lessnaive.save(NaiveBayes().fit(X, ["a", "b", "b", "a"]), tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert text.startswith('{\n "format": "lessnaive-model",\n "version": 1,\n')
    assert text.endswith("}\n")
    assert '\n    {"name": "größe", "kind": "text", "categorical": true},\n' in text
    assert '\n    "levels": ["M", "S"],\n' in text


class TestWhatCannotBeSaved:
    def test_not_fitted(self, tmp_path: Any) -> None:
        with pytest.raises(NotFittedError, match="This NaiveBayes instance is not fitted yet"):
            lessnaive.save(NaiveBayes(), tmp_path / "model.json")
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("thing", "name"),
        [({}, "dict"), (lessnaive.NaiveBayes, "type"), (DummyClassifier(), "DummyClassifier")],
    )
    def test_not_ours(self, thing: Any, name: str, tmp_path: Any) -> None:
        with pytest.raises(TypeError) as caught:
            lessnaive.save(thing, tmp_path / "model.json")
        expected = f"Only classifiers of lessnaive can be saved, and {name} is none of them."
        assert str(caught.value) == expected

    def test_a_class_derived_from_ours(self, tmp_path: Any) -> None:
        derived = type("NaiveBayes", (lessnaive.NaiveBayes,), {})
        with pytest.raises(TypeError, match="Only classifiers of lessnaive can be saved"):
            lessnaive.save(derived().fit([[1.0], [2.0]], [0, 1]), tmp_path / "model.json")

    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            (
                {"priors": datetime.date(2024, 1, 1)},
                TypeError,
                "The parameter priors cannot be saved: a date is not plain data.",
            ),
            (
                {"categorical_features": np.array(["a"], dtype="S1")},
                TypeError,
                "The parameter categorical_features cannot be saved: an array of bytes8 cannot be "
                "written to a model file.",
            ),
            (
                {"smoothing": -1.0},
                ValueError,
                "This NaiveBayes cannot be saved: parameters: The 'smoothing' parameter of "
                "NaiveBayes must be a float in the range [0.0, inf) or a str among {'laplace'}.",
            ),
            (
                {"variance_floor": np.inf},
                ValueError,
                "This NaiveBayes cannot be saved: parameters.variance_floor: expected a finite "
                "number, got inf.",
            ),
        ],
    )
    def test_parameters(
        self, parameters: dict[str, Any], error: type, message: str, tmp_path: Any
    ) -> None:
        model = NaiveBayes().fit([[1.0], [2.0]], [0, 1]).set_params(**parameters)
        with pytest.raises(error) as caught:
            lessnaive.save(model, tmp_path / "model.json")
        assert str(caught.value) == message
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ("\ud83d", "the string holds half of a surrogate pair, which is not a character"),
            (2**64 + 1, "the integer is too large: it has more than 64 bits"),
            (10**400, "the integer is too large: it has more than 64 bits"),
        ],
    )
    def test_values(self, value: Any, problem: str, tmp_path: Any) -> None:
        X = pd.DataFrame({"a": ["x", value, "x", value]}, dtype=object)
        with pytest.raises(ValueError) as caught:
            lessnaive.save(NaiveBayes().fit(X, [0, 1, 0, 1]), tmp_path / "model.json")
        place = 1 if isinstance(value, str) and value > "x" else 0
        expected = (
            f"This NaiveBayes cannot be saved: scorecard.terms[0].levels[{place}]: {problem}."
        )
        assert str(caught.value) == expected


def test_pickle_and_copy() -> None:
    X, y = mixed_table(), labels(3)
    model = NaiveBayes(missing="category", beta=(2, 2)).partial_fit(X[:50], y[:50])
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        check_same(model, again, X)
        again.partial_fit(X[50:], y[50:])
        whole = clone(model).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
        check_same(whole, again, X)
        # The copy stands alone.
        assert model.class_count_.sum() == 50


def test_a_pickled_model_that_has_predicted() -> None:
    X, y = mixed_table(), labels(3)
    model = NaiveBayes().fit(X, y)
    model.predict(X)
    check_same(model, pickle.loads(pickle.dumps(model)), X)


def test_clone_is_not_fitted() -> None:
    X, y = mixed_table(), labels(3)
    model = NaiveBayes(smoothing=2.0, categorical_features=["count"]).fit(X, y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(X)
    assert not hasattr(twin, "scorecard_")
    check_same(model, twin.fit(X, y), X)


def test_the_example_of_the_documentation(tmp_path: Any) -> None:
    page = Path(__file__).parents[1] / "docs" / "model_file.rst"
    if not page.exists():
        pytest.skip("the documentation is not here")
    _, _, block = page.read_text(encoding="utf-8").partition(".. code-block:: json\n")
    (tmp_path / "model.json").write_text(textwrap.dedent(block))
    model = lessnaive.load(tmp_path / "model.json")
    X = pd.DataFrame({"colour": ["red", "green", None]})
    assert model.predict(X).tolist() == ["apple", "pear", "apple"]
    fitted = NaiveBayes().fit(X[:2].loc[[0, 0, 1, 1]], ["apple", "apple", "pear", "pear"])
    np.testing.assert_allclose(model.predict_log_proba(X), fitted.predict_log_proba(X), atol=0.01)


def test_a_pipeline_names_what_to_do_instead(tmp_path):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = make_pipeline(StandardScaler(), NaiveBayes()).fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    with pytest.raises(TypeError) as caught:
        lessnaive.save(pipeline, tmp_path / "m.json")
    assert str(caught.value) == (
        "Only classifiers of lessnaive can be saved, and Pipeline is none of them: save its last "
        "step alone, lessnaive.save(pipeline[-1], path), and apply StandardScaler before "
        "predicting, or keep all of it with joblib.dump."
    )
    lessnaive.save(pipeline[-1], tmp_path / "m.json")
    other = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(TypeError, match=r"none of them: joblib\.dump keeps all of it\.$"):
        lessnaive.save(other, tmp_path / "m.json")
