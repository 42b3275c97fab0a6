"""Model files that are damaged, hostile or of another version: a sentence, and nothing else."""

from __future__ import annotations

import copy
import json
import os
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import lessnaive
from lessnaive import ModelFormatError, models
from model_files import DOCUMENTS

ESTIMATORS = ", ".join(models.__all__)


@pytest.fixture(scope="module")
def path(tmp_path_factory: Any) -> Any:
    return tmp_path_factory.mktemp("damage") / "model.json"


def refusal(path: Any, content: bytes | str | dict[str, Any]) -> str:
    """What is said about a file with this content, without the name of the file."""
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelFormatError) as caught:
        lessnaive.load(path)
    message = str(caught.value)
    prefix = f"{path}: "
    assert message.startswith(prefix)
    assert message.endswith(".")
    assert len(message) < 400
    return message.removeprefix(prefix)


NOT_A_MODEL_FILE = "this is not a model file, which is JSON and begins with '{'."
CUT = "the file is damaged or cut short: "
LEVELS = "scorecard.terms[0].levels"
ESTIMATORS = ", ".join(lessnaive.models.__all__)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", NOT_A_MODEL_FILE),
        (b"\x80\x04\x95\x10", NOT_A_MODEL_FILE),
        (b"\x1f\x8b\x08\x00", NOT_A_MODEL_FILE),
        (b"[1, 2]", NOT_A_MODEL_FILE),
        ('\ufeff{"format": 1}'.encode(), NOT_A_MODEL_FILE),
        ('{"format": 1}'.encode("utf-16"), NOT_A_MODEL_FILE),
        (b'{"a": "\xff"}', "the file is damaged: byte 7 is not UTF-8 text."),
        (b'{"a": "\xed\xa0\x80"}', "the file is damaged: byte 7 is not UTF-8 text."),
        ('{"a": 1', CUT + "Expecting ',' delimiter at line 1, column 8."),
        ('{"a": [1,\n2', CUT + "Expecting ',' delimiter at line 2, column 2."),
        ('{"a": 1} {}', CUT + "Extra data at line 1, column 10."),
        ('{"a": "\x00"}', CUT + "Invalid control character at line 1, column 8."),
        ('{"a": NaN}', "NaN is not a number that JSON can hold."),
        ('{"a": -Infinity}', "-Infinity is not a number that JSON can hold."),
        ('{"a": 1, "b": 2, "a": 1}', "the key 'a' occurs twice in one object."),
        ('{"a": [{"b": 1, "b": 1}]}', "the key 'b' occurs twice in one object."),
        ('{"a": 1' + "0" * 5000 + "}", "an integer of 5001 digits is too large."),
        ('{"a": ' + "[" * 10**6, "lists or objects are nested too deeply."),
        ('{"a": ' * 10**6, "lists or objects are nested too deeply."),
        ("{}", "this is not a model file of lessnaive: it has no format and version."),
        ('{"format": "lessnaive-model"}',
         "this is not a model file of lessnaive: it has no format and version."),
        ('{"format": "pmml", "version": 1}',
         "format: expected one of lessnaive-model, got 'pmml'."),
        ('{"format": "lessnaive-model", "version": 2, "new": {}}',
         "the file is of version 2, made by a newer lessnaive, and this one reads version 1: "
         "upgrade lessnaive."),
        ('{"format": "lessnaive-model", "version": 0}',
         "version: expected an integer from 1 to 1000000, got 0."),
        ('{"format": "lessnaive-model", "version": true}',
         "version: expected an integer from 1 to 1000000, got true."),
        ('{"format": "lessnaive-model", "version": 1.0}',
         "version: expected an integer from 1 to 1000000, got 1.0."),
        ('{"format": "lessnaive-model", "version": 1}', "the key 'written_by' is missing."),
    ],
)  # fmt: skip
def test_not_a_model_file(content: bytes | str, message: str, path: Any) -> None:
    assert refusal(path, content) == message


def put(*place: Any) -> Callable[[Any], None]:
    """Return a function that sets an item of a document: keys, then the new value."""
    *way, last, value = place

    def edit(document: Any) -> None:
        for key in way:
            document = document[key]
        document[last] = value

    return edit


def drop(*place: Any) -> Callable[[Any], None]:
    *way, last = place

    def edit(document: Any) -> None:
        for key in way:
            document = document[key]
        del document[last]

    return edit


CARD = "scorecard"
TERMS = (CARD, "terms")
COLUMNS = (CARD, "schema", "columns")
STATE = ("state", "columns")
ESTIMATORS = ", ".join(lessnaive.models.__all__)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("extra", 1), "the key 'extra' is unknown."),
        (put("written_by", 1), "written_by: expected a string, got 1."),
        (put("estimator", "os.system"),
         f"estimator: expected one of {ESTIMATORS}, got 'os.system'."),
        (put("estimator", "BaseEstimator"),
         f"estimator: expected one of {ESTIMATORS}, got 'BaseEstimator'."),
        (put("estimator", ["NaiveBayes"]),
         f"estimator: expected one of {ESTIMATORS}, got a list."),
        # parameters
        (put("parameters", []), "parameters: expected an object, got a list."),
        (put("parameters", "gamma", 1), "parameters: NaiveBayes has no parameter 'gamma'."),
        (put("parameters", "smoothing", "lots"),
         "parameters: The 'smoothing' parameter of NaiveBayes must be a float in the range "
         "[0.0, inf) or a str among {'laplace'}."),
        (put("parameters", "priors", {"dtype": "float64", "array": [0.5, "x"]}),
         "parameters.priors.array: 'x' is not of type float64."),
        (put("parameters", "priors", {"dtype": "V8", "array": []}),
         "parameters.priors.dtype: expected one of bool, int8, int16, int32, int64, uint8, uint16, "
         "uint32, uint64, float16, float32, float64, str, object, got 'V8'."),
        (put("parameters", "priors", {"dtype": "int8", "array": [1, 300]}),
         "parameters.priors.array: holds a value that does not fit in int8."),
        (put("parameters", "priors", {"dtype": "float32", "array": [1e300]}),
         "parameters.priors.array: holds a value that does not fit in float32."),
        (put("parameters", "priors", {"dtype": "float64", "array": [[1.0], [1.0, 2.0]]}),
         "parameters.priors.array: expected the nested lists of an array, of equal lengths."),
        (put("parameters", "priors", {"array": []}),
         "parameters.priors: the key 'dtype' is missing."),
        (put("parameters", "beta", {"tuple": 1}),
         "parameters.beta.tuple: expected a list, got 1."),
        (put("parameters", "beta", [[[[[[[[[1]]]]]]]]]),
         "parameters.beta[0][0][0][0][0][0][0][0]: lists are nested too deeply."),
        # schema and classes
        (put(*COLUMNS, []),
         "scorecard.schema.columns: expected one column or more, each name once."),
        (put(*COLUMNS, 1, "name", "text"),
         "scorecard.schema.columns: expected one column or more, each name once."),
        (put(*COLUMNS, 1, "name", "\ud800"),
         "scorecard.schema.columns[1].name: the string holds half of a surrogate pair, which is "
         "not a character."),
        (put(*COLUMNS, 1, "kind", "image"),
         "scorecard.schema.columns[1].kind: expected one of number, boolean, text, mixed, "
         "datetime, duration, empty, got 'image'."),
        (put(*COLUMNS, 0, "categorical", False),
         "scorecard.schema.columns[0]: a column of text must be categorical."),
        (put(*COLUMNS, 0, "categorical", 1),
         "scorecard.schema.columns[0].categorical: expected true or false, got 1."),
        (put(CARD, "schema", "named", None),
         "scorecard.schema.named: expected true or false, got null."),
        (put(CARD, "classes", "array", ["v", "u", "w"]),
         "scorecard.classes: the classes are not in ascending order, each of them once."),
        (put(CARD, "classes", "array", ["u", "u", "w"]),
         "scorecard.classes: the classes are not in ascending order, each of them once."),
        (put(CARD, "classes", {"dtype": "object", "array": ["u", 1, 2]}),
         "scorecard.classes: the classes are not in ascending order, each of them once."),
        (put(CARD, "classes", {"dtype": "object", "array": [1, 1.0, 2]}),
         "scorecard.classes: the classes are not in ascending order, each of them once."),
        (put(CARD, "classes", "array", []),
         "scorecard.classes: expected a list of one class or more."),
        (put(CARD, "classes", "array", ["u", "v\0", "w"]),
         "scorecard.classes.array: holds a value that does not fit in str."),
        (put(CARD, "classes", {"dtype": "str", "array": ["u" * 10**4] + ["v"] * 10**4}),
         "scorecard.classes.array: the strings are too long for an array: use dtype object."),
        # terms
        (put(CARD, "intercept", [0.0]), "scorecard.intercept: expected 3 numbers, got 1."),
        (put(CARD, "intercept", [0.0, True, 0.0]),
         "scorecard.intercept: expected numbers, got true."),
        (put(CARD, "intercept", [0.0, 10**309, 0.0]),
         "scorecard.intercept: holds an integer that is too large."),
        (put(CARD, "intercept", [0.0, 1e250, 0.0]),
         "scorecard.intercept: expected numbers from -1e+200 to 1e+200, got 1e+250."),
        (put(*TERMS, {}), "scorecard.terms: expected a list, got an object."),
        (put(*TERMS, 3, 7), "scorecard.terms[3]: expected an object, got 7."),
        (drop(*TERMS, 3, "type"), "scorecard.terms[3]: the key 'type' is missing."),
        (put(*TERMS, 3, "type", "pickle"),
         "scorecard.terms[3].type: "
         "expected one of table, groups, intervals, special_intervals, quadratic, linear, "
         "piecewise, pair, triple, "
         "got 'pickle'."),
        (put(*TERMS, 3, "type", "quadratic"), "scorecard.terms[3]: the key 'offset' is missing."),
        (put(*TERMS, 1, "inputs", [0]),
         "scorecard.terms[1]: column 0 of the schema is categorical and has no parabola."),
        (put(*TERMS, 1, "inputs", [5]),
         "scorecard.terms[1].inputs[0]: expected an integer from 0 to 4, got 5."),
        (put(*TERMS, 1, "inputs", [-1]),
         "scorecard.terms[1].inputs[0]: expected an integer from 0 to 4, got -1."),
        (put(*TERMS, 1, "inputs", []),
         "scorecard.terms[1].inputs: expected one place of a column, got 0."),
        (put(*TERMS, 1, "inputs", [1, 2]),
         "scorecard.terms[1].inputs: expected one place of a column, got 2."),
        (put(*TERMS, 1, "scale", [1.0, 0.0, 1.0]),
         "scorecard.terms[1].scale: expected numbers from 1e-300 to 1.79769e+308, got 0."),
        (put(*TERMS, 1, "scale", [1.0, -2.0, 1.0]),
         "scorecard.terms[1].scale: expected numbers from 1e-300 to 1.79769e+308, got -2."),
        (put(*TERMS, 0, "scores", 1, [0.0]),
         "scorecard.terms[0].scores: expected 5 rows of 3 numbers."),
        (drop(*TERMS, 0, "scores", 1),
         "scorecard.terms[0].scores: expected 5 rows of 3 numbers."),
        (put(*TERMS, 0, "scores", 1, 2, "0.0"),
         "scorecard.terms[0].scores: expected numbers, got '0.0'."),
        (put(*TERMS, 0, "counts", 1, 2, -1.0),
         "scorecard.terms[0].counts: expected numbers from 0 to 1.79769e+308, got -1."),
        (put(*TERMS, 0, "levels", ["a", "b", "a"]), f"{LEVELS}: the value 'a' occurs twice."),
        (put(*TERMS, 0, "levels", ["a", 1, True]), f"{LEVELS}: the value 1 occurs twice."),
        (put(*TERMS, 0, "levels", [0, 0.0, "c"]), f"{LEVELS}: the value 0 occurs twice."),
        (put(*TERMS, 0, "levels", ["a", None, "c"]),
         f"{LEVELS}[1]: expected a string, number or boolean, got null."),
        (put(*TERMS, 0, "levels", ["a", "b", ["c"]]),
         f"{LEVELS}[2]: expected a string, number or boolean, got a list."),
        (put(*TERMS, 0, "levels", ["a", 10**300 + 1, "c"]),
         f"{LEVELS}[1]: the integer is too large: it has more than 64 bits."),
        # state
        (put("state", None), "state: expected an object, got null."),
        (put("state", "fixed_classes", 0), "state.fixed_classes: expected true or false, got 0."),
        (put("state", "class_count", [1.0, -0.5, 2.0]),
         "state.class_count: expected numbers from 0 to 1e+300, got -0.5."),
        (drop(*STATE, 4), "state.columns: expected 5 columns, got 4."),
        (put(*STATE, 0, "declared", 4),
         "state.columns[0].declared: expected an integer from 0 to 3, got 4."),
        (put(*STATE, 0, "counts", []), "state.columns[0].counts: expected 3 rows of 3 numbers."),
        (put(*STATE, 1, "weight", [-1.0, 0.0, 0.0]),
         "state.columns[1].weight: expected numbers from 0 to 1e+300, got -1."),
        (put(*STATE, 1, {}), "state.columns[1]: the key 'weight' is missing."),
    ],
)  # fmt: skip
def test_damaged_documents(edit: Callable[[Any], None], message: str, path: Any) -> None:
    document = copy.deepcopy(DOCUMENTS[0])
    edit(document)
    assert refusal(path, document) == message


def test_numbers_that_overflow(path: Any) -> None:
    for mark, place in [("1e999", "got inf"), ("-1e999", "got -inf")]:
        text = json.dumps(DOCUMENTS[0]).replace('"intercept": [', f'"intercept": [{mark}, ', 1)
        assert "expected 3 numbers, got 4" in refusal(path, text)
        values = DOCUMENTS[0]["scorecard"]["intercept"]
        text = json.dumps(DOCUMENTS[0]).replace(str(values[0]), mark, 1)
        assert refusal(path, text).endswith(f"{place}.")
    text = json.dumps(DOCUMENTS[0]).replace('"smoothing": 1.0', '"smoothing": 1e999')
    assert refusal(path, text) == "parameters.smoothing: expected a finite number, got inf."


def test_files_that_cannot_be_opened(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError):
        lessnaive.load(tmp_path / "absent.json")
    with pytest.raises(IsADirectoryError):
        lessnaive.load(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_endless_files_are_not_read() -> None:
    with pytest.raises(ModelFormatError, match="this is not a model file"):
        lessnaive.load("/dev/zero")


def same_hashes(n: int) -> list[int]:
    """Integers that dictionaries cannot tell apart by their hash."""
    return [i * (2**61 - 1) for i in range(n)]


@pytest.mark.parametrize(
    "content",
    [
        '{"a": ' + "9" * 10**7 + "}",
        '{"a": 0.' + "3" * 10**7 + "}",
        '{"a": ' + "[" * 10**7,
        '{"a": "' + "\\u0041" * 10**6,
        "{" + ", ".join(f'"k{i}": 1' for i in range(10**5)) + ', "k99999": 1}',
        "{" + ", ".join(f'"k{i}": []' for i in range(10**5)) + "}",
    ],
    ids=["digits", "decimals", "nesting", "escapes", "keys, one twice", "keys"],
)
def test_hostile_text_takes_little_time(content: str, path: Any) -> None:
    begin = time.perf_counter()
    refusal(path, content)
    assert time.perf_counter() - begin < 10


def test_hostile_values_take_little_time(path: Any) -> None:
    document = copy.deepcopy(DOCUMENTS[0])
    document["scorecard"]["terms"][0]["levels"] = same_hashes(10**5)
    begin = time.perf_counter()
    assert refusal(path, document).startswith("scorecard.terms[0].levels[")
    assert time.perf_counter() - begin < 10


def test_every_truncation(path: Any) -> None:
    content = json.dumps(DOCUMENTS[2]).encode()
    for length in range(0, len(content), 7):
        refusal(path, content[:length])


def first(estimator: str, key: str) -> Any:
    """The first document of an estimator whose state has something under a key."""
    return next(d for d in DOCUMENTS if d["estimator"] == estimator and d["state"].get(key))


SMALL_BUT_HUNGRY = {
    "a path that stands still": (
        first("StagewiseNB", "ends"),
        put("state", "path", {
            "levels": [[0] * 5] * 2000, "error": [0] * 2000, "deviance": [0] * 2000,
            "total_weight": 6.0, "validation": None,
        }),
        "state.path.levels: expected one column to rise at each step, from 0 on.",
    ),
    "a path of too many steps": (
        first("StagewiseNB", "ends"),
        put("state", {**first("StagewiseNB", "ends")["state"], "n_levels": 2**30, "path": {
            "levels": [[k, 0, 0, 0, 0] for k in range(10_001)], "error": [0] * 10_001,
            "deviance": [0] * 10_001, "total_weight": 6.0, "validation": None,
        }}),
        "state.path: more than 10000 models cannot be averaged.",
    ),
    "weights of a summary": (
        first("NaiveBayes", "bins"),
        put("state", "columns", 1, "rows", "weights", [1e308]),
        "state.columns[1].rows.weights: expected numbers from 0 to 1e+116, got 1e+308.",
    ),
    "unit of a summary": (
        first("NaiveBayes", "bins"),
        put("state", "columns", 1, "unit", 1e-300),
        "state.columns[1].unit: expected numbers from 1e-100 to 1, got 1e-300.",
    ),
    "weights of values": (
        first("NaiveBayes", "bins"),
        put("state", "columns", 0, "missing", [1e308, 1e308]),
        "state.columns[0].missing: expected numbers from 0 to 1e+300, got 1e+308.",
    ),
    "rows that wait": (
        first("FractionalNB", "stream"),
        put("state", "stream", "waiting", 2**53),
        "state.stream.waiting: expected an integer from 0 to 3, got 9007199254740992.",
    ),
    "weights of rows": (
        first("FractionalNB", "stream"),
        put("state", "stream", "recent", "weights", [1e308] * 5),
        "state.stream.recent.weights: expected numbers from 0 to 1e+100, got 1e+308.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL_BUT_HUNGRY)
def test_small_files_that_ask_for_much(name: str, path: Any) -> None:
    document, edit, message = SMALL_BUT_HUNGRY[name]
    document = copy.deepcopy(document)
    edit(document)
    assert refusal(path, document) == message


def test_lists_that_take_more_memory_than_their_text(path: Any) -> None:
    content = '{"a": [' + "[]," * 2_000_000 + "[]]}"
    assert refusal(path, content) == "the file holds too many lists or objects for its size."


def test_rows_to_keep_take_memory_when_they_come(path: Any) -> None:
    document = copy.deepcopy(first("FractionalNB", "stream"))
    document["state"]["stream"]["recent"]["depth"] = 200_000_000
    document["parameters"]["history_size"] = 200_000_000
    path.write_text(json.dumps(document))
    tracemalloc.start()
    model: Any = lessnaive.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    assert model._stream.recent.depth == 200_000_000
