"""Mutants of documents, and what must hold of whatever is made of them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lessnaive
from lessnaive import ModelFormatError
from lessnaive.export.model_file import to_document
from lessnaive.table import Kind

_DAY = pd.Timestamp("2024-01-01")
_CELLS: dict[Kind, list[Any]] = {
    Kind.NUMBER: [0.0, 1.5, -1e300, None],
    Kind.BOOLEAN: [True, False, True, None],
    Kind.TEXT: ["a", "never seen", "", None],
    Kind.MIXED: ["a", 1, 2.5, None],
    Kind.DATETIME: [_DAY, _DAY, pd.Timestamp.min, pd.NaT],
    Kind.DURATION: [pd.Timedelta(1), pd.Timedelta(0), pd.Timedelta.max, pd.NaT],
    Kind.EMPTY: [None, None, None, None],
}


def rows_for(model: Any) -> Any:
    """A few rows of the columns that a model has."""
    schema = model.scorecard_.schema
    table = pd.DataFrame(
        {n: pd.Series(_CELLS[k]) for n, k in zip(schema.names, schema.kinds, strict=True)}
    )
    return table if schema.named else table.to_numpy(dtype=object)


def check_loaded(model: Any) -> None:
    """A model that was accepted works on a table that fits it."""
    given = rows_for(model)
    probabilities = model.predict_proba(given)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(model.predict_log_proba(given)).all()
    assert set(model.predict(given).tolist()) <= set(model.classes_.tolist())
    assert np.isfinite(model.scorecard_.explain(given)).all()
    assert len(model.scorecard_.tables()) >= 0


def places(document: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document."""
    keys = document.keys() if isinstance(document, dict) else range(len(document))
    for key in keys:
        yield (*way, key)
        if isinstance(document[key], dict | list):
            yield from places(document[key], (*way, key))


def at(document: Any, way: Sequence[Any]) -> Any:
    for key in way:
        document = document[key]
    return document


# What leaves are replaced by: types, limits, and numbers that ask for much.
VALUES: list[Any] = [
    None, True, -1, 0, 1, 2, 0.5, 1e-320, 1e-150, -1e300, 1e130, 1e308, 200_000_000, 2**31, 2**53,
    2**62, 2**64, 10**30, "", "x", "number", [], {}, [0], [[0.0]], {"tuple": [1]},
]  # fmt: skip


# Characters that a mutant has more than its document at a place, at most.
LONGEST = 200_000


@cache
def _all_places(text: str) -> list[tuple[Any, ...]]:
    return list(places(json.loads(text)))


def systematic(document: Any, number: int) -> Any:
    """The mutant of this number with one place replaced; all of them come in turn."""
    ways = _all_places(json.dumps(document))
    way, value = ways[number % len(ways)], VALUES[number // len(ways) % len(VALUES)]
    out = json.loads(json.dumps(document))
    at(out, way[:-1])[way[-1]] = copy.deepcopy(value)
    return out


def changed(document: Any, chance: random.Random) -> Any:
    """A mutant with one to three changes of any kind."""
    out = json.loads(json.dumps(document))
    for _ in range(chance.randint(1, 3)):
        ways = list(places(out))
        if not ways:
            break
        *way, last = chance.choice(ways)
        parent = at(out, way)
        kind = chance.choice(("replace", "scale", "delete", "repeat", "swap", "rename"))
        if kind == "replace":
            parent[last] = copy.deepcopy(chance.choice(VALUES))
        elif kind == "scale" and type(parent[last]) in (int, float):
            parent[last] = type(parent[last])(parent[last] * 10.0 ** chance.randint(-20, 20))
        elif kind == "delete":
            del parent[last]
        elif kind == "repeat" and isinstance(parent, list):
            most = max(1, LONGEST // len(json.dumps(parent[last])))
            parent[last:last] = [parent[last]] * min(chance.choice((1, 2, 1000)), most)
        elif kind == "swap":
            keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
            other = chance.choice(keys)
            parent[last], parent[other] = parent[other], parent[last]
        elif kind == "rename" and isinstance(parent, dict):
            parent[chance.choice(("", "x", *parent))] = parent.pop(last)
    return out


def check_file(path: Path, loaded: Callable[[], None]) -> str:
    """Load a file and use the model: "refused", "accepted", or an AssertionError or the like.

    Calls `loaded` between the two, so that the memory and the time of loading can be told.
    """
    try:
        model: Any = lessnaive.load(path)
    except ModelFormatError as error:
        model, refused = None, str(error)
    loaded()
    if model is None:
        assert refused.startswith(f"{path}: ")
        assert len(refused) < 500, refused
        return "refused"
    check_loaded(model)
    lessnaive.save(model, path)
    assert to_document(lessnaive.load(path)) == to_document(model)
    if hasattr(model, "partial_fit"):
        return check_goes_on(model)
    return "accepted"


def check_goes_on(model: Any) -> str:
    """Rows can be added, or are refused in a sentence and nothing has changed."""
    table = rows_for(model)
    labels = np.resize(model.classes_, len(table))
    before = to_document(model)
    try:
        model.partial_fit(table, labels)
    except ValueError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert len(refused) < 500, refused
        assert to_document(model) == before
        return "accepted, but no more rows"
    check_loaded(model)
    return "accepted"
