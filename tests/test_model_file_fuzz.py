"""Random damage: whatever is done to a model file, it is refused with a sentence or is a model."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lessnaive
from fuzzing import at, check_loaded, places
from lessnaive import ModelFormatError
from lessnaive.table import Kind
from model_files import DOCUMENTS


@pytest.fixture(scope="module")
def path(tmp_path_factory: Any) -> Any:
    return tmp_path_factory.mktemp("damage") / "model.json"


def check_content(path: Any, content: bytes) -> None:
    path.write_bytes(content)
    try:
        model = lessnaive.load(path)
    except ModelFormatError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert refused.startswith(f"{path}: ")
        assert len(refused) < 500
        return
    check_loaded(model)
    # What was accepted can be saved, and is the same model.
    lessnaive.save(model, path)
    again = lessnaive.load(path)
    assert again.scorecard_.to_plain() == model.scorecard_.to_plain()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_largest_scores_do_not_overflow(sign: float, path: Any) -> None:
    document = copy.deepcopy(DOCUMENTS[0])
    largest = [sign * 1e200, -sign * 1e200, sign * 1e200]
    document["scorecard"]["intercept"] = largest
    for term in document["scorecard"]["terms"]:
        if term["type"] == "table":
            term["scores"] = [largest] * len(term["scores"])
        else:
            extremes = {
                "center": [1.7e308, -1.7e308, 0.0],
                "scale": [1e-300, 1.7e308, 1e-300],
                "weight": [1e50, -1e50, 0.0],
            }
            term.update(offset=largest, missing=largest, **extremes)
    check_content(path, json.dumps(document).encode())


_NOT_FINITE = (float("nan"), float("inf"), -float("inf"))
_NUMBERS = (
    st.sampled_from(
        [0, 1, -1, 2, 0.0, -0.0, 5e-324, -1e-300, 1e200, -1.7e308, 2**64, 10**30, *_NOT_FINITE]
    )
    | st.integers()
    | st.floats()
)
_SCALARS = st.none() | st.booleans() | _NUMBERS | st.text(st.characters(), max_size=5)
_WORDS = st.sampled_from(
    [*map(str, Kind), "table", "quadratic", "str", "object", "int64", "float64", "bool", "laplace"]
)
_ANYTHING = st.recursive(
    _SCALARS | _WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@st.composite
def damage(draw: Any, document: Any) -> Any:
    """A document with one to three changes."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        everywhere = list(places(document))
        if not everywhere:
            break
        *way, last = draw(st.sampled_from(everywhere))
        parent = at(document, way)
        kind = draw(st.sampled_from(["retype", "delete", "repeat", "rename", "swap"]))
        if kind == "retype":
            parent[last] = draw(_ANYTHING)
        elif kind == "delete":
            del parent[last]
        elif kind == "repeat" and isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
        elif kind == "rename" and isinstance(parent, dict):
            name = draw(st.text(max_size=5) | st.sampled_from(list(parent)))
            parent[name] = parent.pop(last)
        elif kind == "swap":
            other = draw(st.sampled_from(sorted(parent) if isinstance(parent, dict)
                                         else range(len(parent))))  # fmt: skip
            parent[last], parent[other] = parent[other], parent[last]
    return document


@settings(max_examples=600)
@given(data=st.data())
def test_random_damage_to_documents(data: st.DataObject, path: Any) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS).flatmap(damage))
    check_content(path, json.dumps(document).encode())


@settings(max_examples=400)
@given(data=st.data())
def test_random_numbers_in_documents(data: st.DataObject, path: Any) -> None:
    """Only numbers change, so that most of these files are accepted."""
    document = copy.deepcopy(data.draw(st.sampled_from(DOCUMENTS)))
    numeric = [way for way in places(document) if type(at(document, way)) in (int, float)]
    for way in data.draw(st.lists(st.sampled_from(numeric), min_size=1, max_size=3)):
        *parents, last = way
        at(document, parents)[last] = data.draw(_NUMBERS)
    check_content(path, json.dumps(document).encode())


@settings(max_examples=400)
@given(data=st.data())
def test_random_damage_to_bytes(data: st.DataObject, path: Any) -> None:
    content = bytearray(json.dumps(data.draw(st.sampled_from(DOCUMENTS))).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        kind = data.draw(st.sampled_from(["flip", "cut", "insert", "double", "nest"]))
        if kind == "flip" and place < len(content):
            content[place] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "cut":
            del content[place:]
        elif kind == "insert":
            content[place:place] = data.draw(st.binary(max_size=8))
        elif kind == "double":
            content[place:place] = content[place : place + data.draw(st.integers(1, 200))]
        elif kind == "nest":
            content[place:place] = b"[" * data.draw(st.integers(1, 10**5))
    check_content(path, bytes(content))


@given(content=st.binary() | st.text().map(lambda text: "{" + text).map(str.encode))
@example(content=b"{")
def test_random_bytes(content: bytes, path: Any) -> None:
    check_content(path, content)
