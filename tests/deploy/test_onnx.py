"""Models as ONNX graphs, run by onnxruntime."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import lessnaive as ln
from deploy_cases import (
    FAMILY,
    LETTERS,
    TEXT,
    edges_beside_decimals,
    fitted,
    rows_to_predict,
)
from term_cases import example_card, example_rows

runtime = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")

from lessnaive.deploy import onnx_inputs, register_converters  # noqa: E402


def run(graph: Any, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    session = runtime.InferenceSession(graph.SerializeToString())
    out: list[np.ndarray] = session.run(None, inputs)
    return out


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-9), ("float", 1e-5)])
def test_graph(name, precision, tolerance):
    model, X = fitted(name), rows_to_predict()
    graph = ln.to_onnx(model, precision)
    label, probabilities = run(graph, onnx_inputs(model, X, precision))
    wanted = model.predict_proba(X)
    assert probabilities.dtype == (np.float32 if precision == "float" else np.float64)
    np.testing.assert_allclose(probabilities, wanted, rtol=0, atol=tolerance)
    top = np.sort(wanted, axis=1)
    sure = np.ones(len(X), dtype=bool) if precision == "double" else top[:, -1] > top[:, -2] + 1e-5
    assert sure.mean() > 0.9
    assert label[sure].tolist() == model.predict(X)[sure].tolist()


def test_every_kind_of_term():
    card, rows = example_card(), example_rows(300)
    _, probabilities = run(ln.to_onnx(card), onnx_inputs(card, rows))
    np.testing.assert_allclose(probabilities, card.probability(rows), rtol=0, atol=1e-13)


def test_text_for_missing_values_is_in_the_file():
    """It is no value of the column, although the empty text is one."""
    graph = ln.to_onnx(fitted("gaussian"))
    [tokens] = [own.value for own in graph.metadata_props if own.key == "missing_text"]
    assert "" in LETTERS
    assert json.loads(tokens)[TEXT] == "(missing)"
    assert set(json.loads(tokens).values()) == {"", "(missing)"}


def test_text_that_stands_for_missing_is_unseen_as_a_value():
    X = pd.DataFrame({"x": ["a", "a", "b", None, "b", None]})
    model = ln.NaiveBayes(missing="category").fit(X, [0, 0, 1, 1, 1, 0])
    rows = pd.DataFrame({"x": ["", "(unseen)", None, "a"]})
    _, probabilities = run(ln.to_onnx(model), onnx_inputs(model, rows))
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), rtol=0, atol=1e-15)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_decimals_meet_edges_and_values(precision):
    """A number on an edge, or one that is a name, is so in single precision too."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 2)).round(1)
    X = pd.DataFrame({"name": rng.choice([0.1, 0.2, 0.3], 300), "cut": noise[:, 0]})
    X["special"] = np.where(rng.random(300) < 0.3, 0.1, noise[:, 1])
    X["whole"] = 2.0**23 + rng.integers(0, 100, 300)  # with edges that are halves
    y = 10 * X["name"] + X["cut"] + X["special"] + 0.05 * (X["whole"] - 2**23) > 4.5
    encoder = ln.MODLEncoder(
        categorical_features=["name"], cuts={"cut": [-0.7, 0.1]}, special_values={"special": [0.1]}
    )
    for model in (ln.fit_binned(ln.NaiveBayes(), encoder, X, y), ln.LessNaiveClassifier(cv=2)):
        model = model if hasattr(model, "classes_") else model.fit(X, y)
        _, probabilities = run(ln.to_onnx(model, precision), onnx_inputs(model, X, precision))
        tolerance = 1e-9 if precision == "double" else 1e-5
        np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=tolerance)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_edges_beside_decimals(precision):
    """The middle of 0.66 and 0.7 is a little less than 0.68, which is above it in any case."""
    model, X = edges_beside_decimals()
    X = X if precision == "double" else X[:5]  # the edges themselves are decimals there
    _, probabilities = run(ln.to_onnx(model, precision), onnx_inputs(model, X, precision))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-7)


def test_scores_that_are_far_apart_in_single_precision():
    """They are added up in double precision, so that large ones leave the small ones alone."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.exponential(size=400) ** 3 * 1e6]).round(2)
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model = ln.NaiveBayes(numeric="gaussian_shared").fit(X, y)
    rows = X * [1, 2**12]
    _, probabilities = run(ln.to_onnx(model, "float"), onnx_inputs(model, rows, "float"))
    as_given = rows.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(probabilities, model.predict_proba(as_given), rtol=0, atol=1e-7)


def test_names_that_single_precision_cannot_tell_apart_are_refused():
    X = pd.DataFrame({"id": [2**24, 2**24 + 1] * 2})
    model = ln.NaiveBayes(categorical_features="all").fit(X, [0, 1, 0, 1])
    _, probabilities = run(ln.to_onnx(model), onnx_inputs(model, X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="Column 'id' has values that are the same in single prec"):
        ln.to_onnx(model, "float")


def test_an_empty_name_is_refused():
    model = ln.NaiveBayes().fit(pd.DataFrame({"": list("aabb")}), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="A column has an empty name, which no input of a graph"):
        ln.to_onnx(model)


@pytest.mark.parametrize("labels", [[3, 3, -4, -4], [True, True, False, False], [2.0, 2.0, 1.0, 1]])
def test_labels_of_all_types(labels):
    X = [["a"], ["b"], ["a"], ["a"]]
    model = ln.NaiveBayes().fit(X, labels)
    label, _ = run(ln.to_onnx(model), onnx_inputs(model, X))
    assert label.tolist() == model.predict(X).tolist()


def test_names_of_inner_values_are_free():
    X = pd.DataFrame({"v1": list("abab"), "label": list("aabb"), "v3": [1.0, 2.0, 3.0, 4.0]})
    model = ln.NaiveBayes(numeric="gaussian").fit(X.drop(columns="label"), [0, 0, 1, 1])
    _, probabilities = run(ln.to_onnx(model), onnx_inputs(model, X.drop(columns="label")))
    np.testing.assert_allclose(probabilities, model.predict_proba(X.drop(columns="label")))
    model = ln.NaiveBayes().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="A column is called 'label', as an output is: rename it"):
        ln.to_onnx(model)


@pytest.mark.parametrize("name", ["NaiveBayes", "LessNaiveClassifier", "BaristaNB", "NBLogistic"])
def test_pipelines(name):
    """A step that scales, and a model of numbers with gaps."""
    register_converters()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(1)
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300) > 0, "yes", "no")
    X[rng.random(X.shape) < 0.1] = np.nan
    pipeline = make_pipeline(StandardScaler(), getattr(ln, name)()).fit(X, y)
    graph = skl2onnx.to_onnx(pipeline, X, options={"zipmap": False})
    label, probabilities = run(graph, {"X": X})
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), rtol=0, atol=1e-9)
    assert label.tolist() == pipeline.predict(X).tolist()
    # With zipmap, as skl2onnx has it by default, and in single precision.
    graph = skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32))
    _, rows = run(graph, {"X": X[:20].astype(np.float32)})
    assert all(set(row) == {"no", "yes"} for row in rows)


def test_pipelines_with_columns_of_text():
    register_converters()
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0] * 5, "c": list("abab") * 5})
    y = [0, 0, 1, 1] * 5
    inputs = [("x", skl2onnx.common.data_types.DoubleTensorType([None, 1]))]
    inputs.append(("c", skl2onnx.common.data_types.StringTensorType([None, 1])))
    model = ln.NaiveBayes().fit(X, y)
    graph = skl2onnx.to_onnx(model, initial_types=inputs, options={"zipmap": False})
    _, probabilities = run(graph, onnx_inputs(model, X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-12)
    before = make_column_transformer((OrdinalEncoder(), ["c"]), (StandardScaler(), ["x"]))
    pipeline = make_pipeline(before, ln.NaiveBayes(categorical_features=[0])).fit(X, y)
    graph = skl2onnx.to_onnx(pipeline, initial_types=inputs, options={"zipmap": False})
    _, probabilities = run(graph, {"x": X[["x"]].to_numpy(), "c": X[["c"]].to_numpy(dtype=object)})
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), rtol=0, atol=1e-5)


def test_what_no_tensor_holds_is_refused():
    X = pd.DataFrame({"x": pd.Series([1, "a", 1, "b"], dtype=object)})
    model = ln.NaiveBayes().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="Column 'x' held text and numbers when the model was fit"):
        ln.to_onnx(model)
    X = pd.DataFrame({"id": pd.Series([2**60, 2**60 + 1] * 2)})
    model = ln.NaiveBayes(categorical_features="all").fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"Column 'id' has integers from 2\*\*53 on as names"):
        ln.to_onnx(model)
    with pytest.raises(ValueError, match="precision must be 'double' or 'float', got 'half'"):
        ln.to_onnx(model, "half")
