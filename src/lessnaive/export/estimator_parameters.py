"""Parameters of estimators as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from lessnaive._sklearn import InvalidParameterError, check_parameters, parameter_names
from lessnaive.models.base import ScorecardClassifier
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node, array_to_plain, shown

__all__ = ["make_estimator", "parameters_to_plain"]

_MOST_NESTED = 8
# What parameters stood for in files that are older than them, where that is not their default.
_BEFORE = {"variance_prior": 0.0, "relevance": "distance"}


def parameters_to_plain(estimator: ScorecardClassifier) -> dict[str, Any]:
    """Return the parameters of an estimator as plain data.

    Numbers, strings, booleans, None and lists stand for themselves; a tuple is
    ``{"tuple": [...]}``, a mapping with names as keys ``{"mapping": {...}}``, one with
    other keys ``{"pairs": [[key, value], ...]}``, an array
    ``{"dtype": ..., "array": [...]}``, and an elastic net as penalty ``{"elastic_net": {...}}``.
    """
    out = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            out[name] = _to_plain(value)
        except TypeError as error:
            raise TypeError(f"The parameter {name} cannot be saved: {error}.") from None
    return out


def make_estimator(kind: type[ScorecardClassifier], node: Node) -> ScorecardClassifier:
    """Make an estimator, not yet fitted, with parameters from plain data.

    A parameter that is absent has its default, or what it was before there was such a parameter:
    the file may be older.
    """
    entries = node.entries()
    known = parameter_names(kind)
    for name in entries:
        if name not in known:
            raise node.error(f"{kind.__name__} has no parameter {shown(name)}")
    old = {name: value for name, value in _BEFORE.items() if name in known}
    given = {name: _from_plain(entry, _MOST_NESTED) for name, entry in entries.items()}
    estimator = kind(**(old | given))
    try:
        check_parameters(estimator)
    except InvalidParameterError as error:
        rule, _, _ = str(error).partition(" Got ")  # what follows may be long
        raise node.error(rule.removesuffix(".")) from None
    return estimator


def _to_plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list | range):
        return [_to_plain(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_to_plain(item) for item in value]}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {"mapping": {key: _to_plain(item) for key, item in value.items()}}
        return {"pairs": [[_to_plain(key), _to_plain(item)] for key, item in value.items()]}
    if type(value) is ElasticNet:
        return {"elastic_net": {name: _to_plain(item) for name, item in _given(value).items()}}
    if hasattr(value, "__array__"):
        return array_to_plain(np.asarray(value))
    raise TypeError(f"a {type(value).__name__} is not plain data")


def _from_plain(node: Node, depth: int) -> Any:
    if depth == 0:
        raise node.error("lists are nested too deeply")
    if node.is_null():
        return None
    if node.is_list():
        return [_from_plain(item, depth - 1) for item in node.items()]
    if not node.is_record():
        return node.scalar()
    if "tuple" in node.entries():
        items = node.record("tuple")["tuple"].items()
        return tuple(_from_plain(item, depth - 1) for item in items)
    if "mapping" in node.entries():
        items_by_name = node.record("mapping")["mapping"].entries()
        return {name: _from_plain(item, depth - 1) for name, item in items_by_name.items()}
    if "pairs" in node.entries():
        return dict(_pair(item, depth - 1) for item in node.record("pairs")["pairs"].items())
    if "elastic_net" in node.entries():
        return _elastic_net(node.record("elastic_net")["elastic_net"], depth - 1)
    return node.array()


def _pair(node: Node, depth: int) -> tuple[Any, Any]:
    items = node.items()
    if len(items) != 2:
        raise node.error(f"expected a key and a value, got {len(items)} items")
    return items[0].scalar(), _from_plain(items[1], depth)


def _given(penalty: ElasticNet) -> dict[str, Any]:
    """Return what a penalty has that is not the default."""
    return {
        item.name: value
        for item in fields(penalty)
        if np.any((value := getattr(penalty, item.name)) != item.default)
    }


def _elastic_net(node: Node, depth: int) -> ElasticNet:
    known = {item.name for item in fields(ElasticNet)}
    given = {name: _from_plain(entry, depth) for name, entry in node.entries().items()}
    try:
        if not set(given) <= known:
            raise ValueError(f"it has {', '.join(sorted(known))} only")
        return ElasticNet(**given)
    except (TypeError, ValueError) as error:
        raise node.error(f"this is no elastic net: {error}") from None
