"""Every function and method of the core refuses what it cannot work with.

The kernels trust what they are given, so that a wrong size would be a crash and a wrong type a
result that nobody sees. Calls are made in child processes, where a crash or a hang is one failure.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lessnaive
from core_calls import CALLS
from lessnaive import _core

CONSTANTS = {"STEP_LANES"}


def bindings(properties: bool = False) -> list[str]:
    """Return the names of all that the core offers."""
    out = []
    for name, value in vars(_core).items():
        if name.startswith("__") or name in CONSTANTS:
            continue
        if not isinstance(value, type):
            out += [] if properties else [name]
            continue
        for member, part in vars(value).items():
            if isinstance(part, property):
                out += [f"{name}.{member}"] if properties else []
            elif type(part).__name__ in ("nb_func", "nb_method") and not properties:
                out.append(f"{name}.{member}")
    return sorted(out)


def test_every_binding_has_a_case():
    assert len(bindings()) > 30
    assert bindings() == sorted(CALLS)
    for name in CONSTANTS:
        assert isinstance(getattr(_core, name), int)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_wrong_arguments_are_refused(name):
    program = Path(__file__).parent / "core_cases.py"
    command = [sys.executable, str(program), str(_core.__file__), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{lines[-1:]}\n{done.stderr[-3000:]}"
    outcomes = [(what, outcome) for what, outcome in lines if outcome != "is made"]
    assert outcomes[0] == ("the good call", "accepted")
    wrong = [each for each in outcomes[1:] if each[1] != "refused"]
    assert not wrong, wrong
    assert len(outcomes) > 1 or not CALLS[name](_core)


@pytest.mark.parametrize("name", bindings(properties=True))
def test_properties_need_an_object_that_is_ready(name):
    owner, member = name.split(".")
    made = getattr(_core, owner)
    with pytest.raises(TypeError), pytest.warns(RuntimeWarning, match="uninitialized"):
        getattr(made.__new__(made), member)
    with pytest.raises(AttributeError):
        setattr(made.__new__(made), member, 1)


def test_objects_are_made_once():
    summary = _core.QuantileSummary(2, 4)
    again = "already-initialized"
    with pytest.raises(TypeError), pytest.warns(RuntimeWarning, match=again):
        summary.__init__(3, 4)
    with pytest.raises(TypeError), pytest.warns(RuntimeWarning, match=again):
        summary.__setstate__(_core.QuantileSummary(3, 4).__getstate__())
    assert summary.classes == 2


def test_a_summary_that_another_thread_changes_is_left_alone():
    n = 2_000_000
    summary = _core.QuantileSummary(2, 64)
    columns, labels = [np.random.default_rng(0).random(n)], np.arange(n) % 2
    started, refused = threading.Event(), []

    def add() -> None:
        started.set()
        _core.summarize([summary], columns, labels, None)

    thread = threading.Thread(target=add)
    thread.start()
    started.wait()
    while thread.is_alive():
        try:
            summary.points()
        except RuntimeError as error:
            refused.append(str(error))
    thread.join()
    assert set(refused) == {"another thread is at work on this object"}
    assert sum(summary.points()[1]) == n


def parameters_of(definition: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in definition.args.args]


def test_the_stub_is_in_step():
    stub = Path(lessnaive.__file__).parent / "_core.pyi"
    written: dict[str, list[str]] = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            written[node.name] = parameters_of(node)
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                assert isinstance(part, ast.FunctionDef)
                written[f"{node.name}.{part.name}"] = parameters_of(part)
    names = bindings()
    assert sorted(written) == sorted(names + bindings(properties=True))
    for name in names:
        found: Any = _core
        for part in name.split("."):
            found = getattr(found, part)
        signature = found.__nb_signature__[0][0]
        given = re.findall(r"(\w+)\s*:", re.sub(r"\[[^()]*?\]", "", signature.split("->")[0]))
        if "." in name:
            given = ["self", *(each for each in given if each != "self")]
        if not name.endswith("__setstate__"):
            assert written[name] == given, signature
