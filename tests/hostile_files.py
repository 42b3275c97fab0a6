"""Files that ask for more memory or time than they should."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from fuzzing import at
from model_files import DOCUMENTS


def hostile_texts(size: int) -> dict[str, str]:
    """Texts of about so many bytes, by what they hold."""
    plain = json.dumps(DOCUMENTS[0])[:-1]
    small = '{"a":0},'
    keys = ",".join(f'"{k}":0' for k in range(size // 9))
    return {
        "empty lists": f'{plain}, "x": [{"[]," * (size // 3)}[]]}}',
        "empty objects": f'{plain}, "x": [{"{}," * (size // 3)}[]]}}',
        "small objects": f'{plain}, "x": [{small * (size // 8)}{{}}]}}',
        "one large object": f'{plain}, "x": {{{keys}}}}}',
        "lists in lists": f'{plain}, "x": {"[" * size}',
        "zeros": f'{plain}, "x": [{"0," * (size // 2)}0]}}',
        **{name: json.dumps(document) for name, document in _documents(size).items()},
    }


def _documents(size: int) -> dict[str, Any]:
    first, terms = DOCUMENTS[0], ("scorecard", "terms", 0)
    columns = [{"name": str(k), "kind": "text", "categorical": True} for k in range(size // 60)]
    labels = {"dtype": "str", "array": ["a"] * (size // 8) + ["b" * (size // 2)]}
    values = list(range(size // 8))
    long_table = {"levels": values, "scores": [[0, 0, 0]] * len(values)}
    stagewise = _first("StagewiseNB", lambda state: state["ends"])
    n_steps = size // 40
    still = {"levels": [[0] * 5] * n_steps}
    rising = {"levels": [[k, 0, 0, 0, 0] for k in range(n_steps)]}
    measures = {"error": [0] * n_steps, "deviance": [0] * n_steps}
    steps = put(stagewise, ("state", "path"), rising | measures)
    summed = _first("NaiveBayes", lambda state: state.get("bins"))
    rows = {"values": values, "weights": [1e308] * 2 * len(values), "error": [0.0, 0.0]}
    fractional = _first("FractionalNB", lambda state: state["stream"])
    recent = ("state", "stream", "recent")
    return {
        "levels": put(first, (*terms, "levels"), values),
        "a long table": put(first, terms, long_table),
        "classes of unequal lengths": put(first, ("scorecard", "classes"), labels),
        "columns": put(first, ("scorecard", "schema", "columns"), columns),
        "a path that stands still": put(stagewise, ("state", "path"), still | measures),
        "a path of many steps": put(steps, ("state", "n_levels"), 2**31 - 1),
        "a summary of great weight": put(summed, ("state", "columns", 1, "levels"), [rows] * 2),
        "rows to keep": put(fractional, (*recent, "depth"), 200_000_000),
        "rows": put(fractional, (*recent, "labels"), [0] * (size // 3)),
    }


def _first(estimator: str, fits: Any) -> Any:
    return next(d for d in DOCUMENTS if d["estimator"] == estimator and fits(d["state"]))


def put(document: Any, way: Sequence[Any], value: Any) -> Any:
    """A document with another value at a place; where both are objects, with both in one."""
    out = copy.deepcopy(document)
    parent = at(out, way[:-1])
    both = isinstance(value, dict) and isinstance(parent[way[-1]], dict)
    parent[way[-1]] = parent[way[-1]] | value if both else value
    return out
