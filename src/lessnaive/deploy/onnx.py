"""Models as ONNX graphs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lessnaive._version import __version__
from lessnaive.deploy.formulas import ModelFormulas, formulas_of
from lessnaive.deploy.onnx_nodes import missing_texts, scoring_nodes, unseen_texts
from lessnaive.table import Column, Kind, Schema, read_table

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    raise ImportError("ONNX needs onnx: pip install 'lessnaive[onnx]'.") from error

__all__ = ["onnx_inputs", "to_onnx"]

Precision = Literal["double", "float"]
# Versions that runtimes have known since 2022.
_OPSET, _ML_OPSET, _IR_VERSION = 17, 3, 8
_OUTPUTS = ("label", "probabilities")


def to_onnx(model: Any, precision: Precision = "double") -> Any:
    """Return a model as an ONNX graph.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted classifier of lessnaive, or the scorecard of one.
    precision : {"double", "float"}, default="double"
        The type of numbers that go in and of probabilities that come out. What is between them is
        computed in double precision; with "float" edges and values are rounded as the numbers are
        that they are compared with.

    Returns
    -------
    onnx.ModelProto
        It has an input of shape (n_rows, 1) for each column that the model uses, named as the
        column: text, or numbers, where NaN is missing, booleans are 0 and 1, and dates and
        durations are seconds (of double precision in any case). Text that stands for a missing
        value is in ``metadata_props``, by column: it is the empty text unless that is a value.
        The outputs are ``label`` and ``probabilities``.

    See Also
    --------
    lessnaive.deploy.onnx_inputs : A table as these inputs.

    Examples
    --------
    >>> import lessnaive
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> graph = lessnaive.to_onnx(lessnaive.NaiveBayes().fit(X, y))
    >>> [own.name for own in graph.graph.input], [own.name for own in graph.graph.output]
    (['x0', 'x1'], ['label', 'probabilities'])
    """
    if precision not in ("double", "float"):
        raise ValueError(f"precision must be 'double' or 'float', got {precision!r}.")
    formulas = formulas_of(model)
    number = TensorProto.FLOAT if precision == "float" else TensorProto.DOUBLE
    places = dict(formulas.used_columns())
    if not places:
        raise ValueError("The model uses no column: a graph without inputs has no rows.")
    if "" in (column.name for column in places.values()):
        raise ValueError("A column has an empty name, which no input of a graph may have: name it.")
    taken = {column.name for column in places.values()} & set(_OUTPUTS)
    if taken:
        raise ValueError(f"A column is called {taken.pop()!r}, as an output is: rename it.")
    sink = _OwnGraph({column.name for column in places.values()} | set(_OUTPUTS))
    inputs = [
        helper.make_tensor_value_info(column.name, _input_type(column.kind, number), ["N", 1])
        for column in places.values()
    ]
    names = {place: column.name for place, column in places.items()}
    single = precision == "float"
    rounded = [place for place, own in places.items() if single and not own.kind.is_time]
    best, shares = scoring_nodes(formulas, sink, names, rounded=rounded, single=single)
    labels = label_array(formulas.classes)
    chosen = sink.node("Gather", [sink.constant(labels), best], axis=0)
    for own, name in zip((chosen, shares), _OUTPUTS, strict=True):
        sink.nodes.append(helper.make_node("Identity", [own], [name]))
    outputs = [
        helper.make_tensor_value_info("label", _onnx_type(labels), ["N"]),
        helper.make_tensor_value_info("probabilities", number, ["N", len(labels)]),
    ]
    graph = helper.make_graph(sink.nodes, "scorecard", inputs, outputs, sink.constants)
    return _with_metadata(graph, formulas)


def onnx_inputs(model: Any, X: Any, precision: Precision = "double") -> dict[str, NDArray[Any]]:
    """Return a table as the inputs of the graph that :func:`~lessnaive.to_onnx` makes of a model.

    Parameters
    ----------
    model : estimator or Scorecard
        The model.
    X : table of shape (n_samples, n_features)
        The rows.
    precision : {"double", "float"}, default="double"
        The type of numbers.

    Returns
    -------
    dict of str to array
        What ``run`` of onnxruntime's InferenceSession takes.

    Examples
    --------
    >>> import lessnaive
    >>> from lessnaive.deploy import onnx_inputs
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> onnx_inputs(lessnaive.NaiveBayes().fit(X, y), [[3.0, None]])
    {'x0': array([[3.]]), 'x1': array([['']], dtype=object)}
    """
    formulas = formulas_of(model)
    scorecard = getattr(model, "scorecard_", model)
    schema: Schema = scorecard.schema
    columns = schema.match(read_table(X), formulas.model)
    missing, unseen = missing_texts(formulas), unseen_texts(formulas)
    number = np.float32 if precision == "float" else np.float64
    out: dict[str, NDArray[Any]] = {}
    for place, own in formulas.used_columns():
        if own.kind is Kind.TEXT:
            values: NDArray[Any] = _texts(columns[place], missing[own.name], unseen[own.name])
        else:
            values = columns[place].numbers().astype(np.float64 if own.kind.is_time else number)
        out[own.name] = values[:, None]
    return out


def _texts(column: Column, missing: str, unseen: str) -> NDArray[Any]:
    # A value that is the text for missing ones is none that the model has seen.
    values = [missing if v is None else unseen if v == missing else v for v in column.plain()]
    return np.array([str(value) for value in values], dtype=object)


def label_array(classes: list[Any]) -> NDArray[Any]:
    """Return labels as an array that ONNX knows."""
    if all(isinstance(label, int) for label in classes):  # booleans are 0 and 1
        return np.array(classes, dtype=np.int64)
    if all(isinstance(label, float | int) for label in classes):
        return np.array(classes, dtype=np.float64)
    return np.array([str(label) for label in classes], dtype=object)


class _OwnGraph:
    """Nodes and constants, with names that no input has."""

    def __init__(self, taken: set[str]) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._taken = taken
        self._number = 0

    def _name(self) -> str:
        while True:
            self._number += 1
            name = f"v{self._number}"
            if name not in self._taken:
                return name

    def node(self, operator: str, inputs: Sequence[str], domain: str = "", **options: Any) -> str:
        name = self._name()
        made = helper.make_node(operator, list(inputs), [name], domain=domain, **options)
        self.nodes.append(made)
        return name

    def constant(self, values: NDArray[Any]) -> str:
        name = self._name()
        self.constants.append(constant_tensor(values, name))
        return name


def constant_tensor(values: NDArray[Any], name: str) -> Any:
    """Return an array, of text or numbers, as a constant of ONNX."""
    if values.dtype == object:
        texts = [text.encode() for text in values.ravel().tolist()]
        return helper.make_tensor(name, TensorProto.STRING, values.shape, texts)
    return numpy_helper.from_array(values, name)


def _onnx_type(values: NDArray[Any]) -> int:
    if values.dtype == object:
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(values.dtype))


def _input_type(kind: Kind, number: int) -> int:
    if kind is Kind.TEXT:
        return int(TensorProto.STRING)
    return int(TensorProto.DOUBLE) if kind.is_time else number


def _with_metadata(graph: Any, formulas: ModelFormulas) -> Any:
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = helper.make_model(
        graph,
        producer_name="lessnaive",
        producer_version=__version__,
        opset_imports=opsets,
        ir_version=_IR_VERSION,
    )
    tokens = missing_texts(formulas)
    helper.set_model_props(model, {"model": formulas.model, "missing_text": json.dumps(tokens)})
    onnx.checker.check_model(model)
    return model
