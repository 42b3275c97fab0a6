"""The run behind the big table: resumable, and with a limit of time for each fold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PROGRAM = Path(__file__).parents[1] / "benchmarks" / "quality.py"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of processor time")


@pytest.fixture
def home(tmp_path):
    """A folder with a table that is quickly learned, and one that is not."""
    rng = np.random.default_rng(0)
    entries = []
    for name, rows, columns in (("quick", 60, 2), ("slow", 6_000, 30)):
        frame = pd.DataFrame(rng.normal(size=(rows, columns)).round(3)).add_prefix("x")
        score = (frame["x0"] * frame["x1"]).to_numpy()
        frame["y"] = np.where(score + rng.normal(size=rows) > 0, "yes", "no")
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        columns = [c for c in frame if c != "y"]
        facts = {"file": f"{name}.csv", "rows": rows, "target": "y", "task": "classification"}
        entries.append({"name": name, **facts, "numeric": columns, "categorical": []})
    (tmp_path / "manifest.json").write_text(json.dumps(entries))
    return tmp_path


def measure(home, *arguments):
    subprocess.run(
        [sys.executable, PROGRAM, "--out", home / "out", "--folds", "0", "1", *arguments],
        env={**os.environ, "LESSNAIVE_DATA_HOME": str(home), "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        timeout=120,
    )
    lines = (home / "out" / "quality.jsonl").read_text().splitlines()
    return {(r["table"], r["method"], r["fold"]): r for r in map(json.loads, lines)}


def test_a_fold_that_takes_too_long_is_stopped_and_kept_as_such(home):
    found = measure(home, "--limit", "0.2", "--methods", "NaiveBayes", "LessNaive")
    assert found["slow", "LessNaive", 0]["stopped"] == 0.2
    assert "log_loss" not in found["slow", "LessNaive", 0]
    assert ("slow", "LessNaive", 1) not in found  # not tried again
    for fold in (0, 1):  # what comes after goes on
        assert found["slow", "NaiveBayes", fold]["log_loss"] < 1.0
        assert found["quick", "LessNaive", fold]["log_loss"] > 0.0
    again = measure(home, "--limit", "0.2", "--methods", "NaiveBayes", "LessNaive")
    assert again == found


def test_methods_may_have_classes_in_any_order(home, monkeypatch):
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    monkeypatch.setenv("LESSNAIVE_DATA_HOME", str(home))
    import quality

    class Turned:
        def fit(self, X, y):
            self._model = quality.METHODS["NaiveBayes"]().fit(X, y)
            self.classes_ = self._model.classes_[::-1]
            return self

        def predict_proba(self, X):
            return self._model.predict_proba(X)[:, ::-1]

    monkeypatch.setitem(quality.METHODS, "turned", Turned)
    found = [quality.measure(method, "quick", 0) for method in ("NaiveBayes", "turned")]
    for measure in ("log_loss", "accuracy", "auc"):
        assert found[0][measure] == pytest.approx(found[1][measure], abs=1e-12)
