"""Converters for skl2onnx, so that pipelines with models of lessnaive convert as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import models
from lessnaive.deploy.formulas import formulas_of
from lessnaive.deploy.onnx import constant_tensor, label_array
from lessnaive.deploy.onnx_nodes import scoring_nodes

try:
    from skl2onnx import update_registered_converter
    from skl2onnx.common import data_types
except ImportError as error:
    raise ImportError("Converters for skl2onnx need it: pip install 'lessnaive[onnx]'.") from error

__all__ = ["register_converters"]

# Those that skl2onnx handles itself.
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
}
# The version of operators outside of the main domain.
_ML_VERSION = 2


def register_converters() -> None:
    """Tell skl2onnx how all classifiers of lessnaive are converted.

    After that ``skl2onnx.to_onnx`` and ``convert_sklearn`` take them, alone and in pipelines. A
    model gets one input with all columns, or one for each column that it was fitted with.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.deploy import register_converters
    >>> register_converters()
    >>> X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), [0, 0, 1, 1]
    >>> pipeline = make_pipeline(StandardScaler(), NaiveBayes()).fit(X, y)
    >>> graph = skl2onnx.to_onnx(pipeline, X, options={"zipmap": False})
    >>> [own.name for own in graph.graph.output]
    ['label', 'probabilities']
    """
    for name in models.__all__:
        kind = getattr(models, name)
        update_registered_converter(kind, f"LessNaive{name}", _shapes, _convert, options=_OPTIONS)


def _shapes(operator: Any) -> None:
    """Say of which types and shapes the outputs are."""
    labels = label_array(operator.raw_operator.classes_.tolist())
    rows = operator.inputs[0].get_first_dimension()
    is_text = labels.dtype == object
    kind = data_types.StringTensorType if is_text else data_types.Int64TensorType
    operator.outputs[0].type = kind([rows])
    numbers = data_types.FloatTensorType if _is_single(operator) else data_types.DoubleTensorType
    operator.outputs[1].type = numbers([rows, len(labels)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a model."""
    formulas = formulas_of(operator.raw_operator)
    sink = _ContainerSink(scope, container)
    inputs, rounded = _columns(operator, formulas, sink)
    single = _is_single(operator)
    best, shares = scoring_nodes(formulas, sink, inputs, rounded=rounded, single=single)
    labels = label_array(formulas.classes)
    if labels.dtype == np.float64:
        labels = labels.astype(np.int64)
    chosen = sink.node("Gather", [sink.constant(labels), best], axis=0)
    for own, output in zip((chosen, shares), operator.outputs, strict=True):
        container.add_node("Identity", [own], [output.full_name], op_domain="")


def _columns(
    operator: Any, formulas: Any, sink: _ContainerSink
) -> tuple[dict[int, str], list[int]]:
    """Return the columns as values of shape (n_rows, 1), and which are of single precision."""
    given = [(own.full_name, own.type.shape[1] or 1) for own in operator.inputs]
    width = sum(size for _, size in given)
    if width != len(formulas.columns):
        raise ValueError(
            f"{formulas.model} was fitted with {len(formulas.columns)} columns, but gets {width}."
        )
    columns: list[str] = []
    singles: list[bool] = []
    for own, (name, size) in zip(operator.inputs, given, strict=True):
        singles += [isinstance(own.type, data_types.FloatTensorType)] * size
        if size == 1:
            columns.append(name)
        else:
            places = (sink.constant(np.array([j], dtype=np.int64)) for j in range(size))
            columns += [sink.node("Gather", [name, place], axis=1) for place in places]
    used = {place: columns[place] for place, _ in formulas.used_columns()}
    return used, [place for place in used if singles[place]]


def _is_single(operator: Any) -> bool:
    """Whether probabilities are of single precision: unless a column comes in double precision."""
    kinds = [own.type for own in operator.inputs]
    return not any(isinstance(kind, data_types.DoubleTensorType) for kind in kinds)


class _ContainerSink:
    """The graph that skl2onnx makes."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope = scope
        self._container = container

    def node(self, operator: str, inputs: Sequence[str], domain: str = "", **options: Any) -> str:
        name: str = self._scope.get_unique_variable_name("lessnaive")
        version = _ML_VERSION if domain else None
        self._container.add_node(
            operator, list(inputs), [name], op_domain=domain, op_version=version, **options
        )
        return name

    def constant(self, values: NDArray[Any]) -> str:
        name: str = self._scope.get_unique_variable_name("lessnaive")
        self._container.initializers.append(constant_tensor(values, name))
        return name
