"""What is imported when, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lessnaive
from lessnaive import models
from lessnaive.datasets.penguins import PENGUINS_CSV

HEAVY = ("sklearn", "scipy", "pandas", "polars", "matplotlib", "joblib")


def imported(code: str, folder: Path, *arguments: str) -> set[str]:
    """Run code; return the top-level modules that it has imported."""
    report = "import sys; print(*{n.partition('.')[0] for n in sys.modules}, file=sys.stderr)"
    script = f"import atexit; atexit.register(lambda: exec({report!r}))\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return set(done.stderr.split())


COMMAND = "from lessnaive.cli import main; main()"

WITHOUT_EXTRAS = """
import sys
sys.modules |= dict.fromkeys(["onnx", "openpyxl", "skl2onnx", "sqlglot"])  # cannot be imported
from lessnaive import *
import lessnaive
for name in ("to_onnx", "to_sql", "to_xlsx"):
    try:
        getattr(lessnaive, name)("model")
    except ImportError as error:
        print(error)
"""


def test_extras_are_missed_when_they_are_called_and_not_before(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "ONNX needs onnx: pip install 'lessnaive[onnx]'.",
        "SQL needs sqlglot: pip install 'lessnaive[sql]'.",
        "Workbooks need openpyxl: pip install 'lessnaive[xlsx]'.",
    ]


def test_importing_the_package_imports_next_to_nothing(tmp_path):
    found = imported("import lessnaive; lessnaive.__version__; dir(lessnaive)", tmp_path)
    assert not found & {*HEAVY, "numpy", "narwhals", "pyarrow"}


def test_help_imports_neither_numbers_nor_tables(tmp_path):
    found = imported(COMMAND, tmp_path, "--help")
    assert not found & {*HEAVY, "numpy", "narwhals", "pyarrow", "rich"}


@pytest.mark.parametrize("numeric", ["gaussian", "modl"])
def test_predict_needs_the_scorecard_alone(tmp_path, numeric):
    X, y = lessnaive.datasets.load_penguins()
    lessnaive.save(lessnaive.NaiveBayes(numeric=numeric).fit(X, y), tmp_path / "m.json")
    found = imported(COMMAND, tmp_path, "predict", "m.json", str(PENGUINS_CSV), "-o", "out.csv")
    assert "pyarrow" in found
    assert not found & {*HEAVY}
    assert (tmp_path / "out.csv").exists()


def test_models_that_need_more_are_the_ones_named(tmp_path):
    """A model that predicts with more than its scorecard is loaded as a whole."""
    from lessnaive.export.scorecard_file import read_scorecard

    X, y = lessnaive.datasets.load_penguins("pandas")
    X = X[["bill_length_mm", "sex"]]
    for name in models.__all__:
        kind = getattr(models, name)
        model = kind().fit(X, y)
        lessnaive.save(model, tmp_path / "m.json")
        alone = read_scorecard(tmp_path / "m.json")
        assert alone is not None, name
        np.testing.assert_array_equal(alone.probability(X), model.predict_proba(X))
        np.testing.assert_array_equal(alone.predict(X), model.predict(X))
    for model in (
        lessnaive.AttributeWeightedNB(weights="mixed"),
        lessnaive.StagewiseNB(average=True),
    ):
        lessnaive.save(model.fit(X, y), tmp_path / "m.json")
        assert read_scorecard(tmp_path / "m.json") is None
        with pytest.raises(ValueError, match="is more than a scorecard: read it by less"):
            lessnaive.load_scorecard(tmp_path / "m.json")


def test_loading_a_scorecard_needs_no_estimator(tmp_path):
    X, y = lessnaive.datasets.load_penguins()
    lessnaive.save(lessnaive.LessNaiveClassifier().fit(X, y), tmp_path / "m.json")
    code = "import lessnaive, numpy\ncard = lessnaive.load_scorecard('m.json')\n"
    code += "card.predict([['Biscoe', 45.0, None, 200.0, 4000.0, 'male', 2008.0]])"
    found = imported(code, tmp_path)
    assert "numpy" in found
    assert not found & {*HEAVY}


def test_every_public_name_is_there():
    for module in (lessnaive, models, lessnaive.export):
        for name in module.__all__:
            assert getattr(module, name) is not None
            assert name in dir(module)
    with pytest.raises(AttributeError, match="module 'lessnaive' has no attribute 'Nothing'"):
        lessnaive.Nothing  # noqa: B018
    with pytest.raises(ImportError):
        from lessnaive import Nothing  # noqa: F401
