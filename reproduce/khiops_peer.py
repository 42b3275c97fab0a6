"""Khiops' selective naive Bayes on single columns, as a classifier that can be compared."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

__all__ = ["KhiopsNB", "khiops_is_installed"]

_TARGET = "__target__"
_FORMAT: dict[str, Any] = {"detect_format": False, "header_line": True, "field_separator": "\t"}


def khiops_is_installed() -> bool:
    """Whether the package can be imported; its programs are then found beside Python's."""
    if find_spec("khiops") is None:
        return False
    folder = str(Path(sys.executable).parent)
    if folder not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] += os.pathsep + folder
    return True


class KhiopsNB:
    """The model that Khiops trains by default, without columns that it makes itself.

    Khiops reads tables from files and runs as a program of its own; both count as time of ``fit``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    weights_ : array of shape (n_features,)
        Weight of each column.
    """

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        """Train."""
        if not khiops_is_installed():
            raise ImportError("Khiops is not installed: pip install khiops.")
        from khiops import core as kh

        self.classes_ = np.unique(y)
        self._names = [f"x{j}" for j in range(X.shape[1])]
        dictionary = kh.Dictionary()
        dictionary.name = "table"
        kinds = ["Numerical" if X[c].dtype.kind in "fiu" else "Categorical" for c in X]
        for name, kind in (*zip(self._names, kinds, strict=True), (_TARGET, "Categorical")):
            variable = kh.Variable()
            variable.name, variable.type = name, kind
            dictionary.add_variable(variable)
        domain = kh.DictionaryDomain()
        domain.add_dictionary(dictionary)
        with tempfile.TemporaryDirectory() as folder:
            file = self._write(X, y, folder)
            report, model = kh.train_predictor(
                domain, "table", file, _TARGET, str(Path(folder) / "report.khj"),
                sample_percentage=100, use_complement_as_test=False, max_cores=1,
                max_constructed_variables=0, max_trees=0, max_pairs=0, max_text_features=0,
                **_FORMAT,
            )  # fmt: skip
            self._model = kh.read_dictionary_file(model)
            predictor = kh.read_analysis_results_file(report).modeling_report.get_snb_predictor()
        found = {v.name: v.weight for v in predictor.selected_variables or []}
        self.weights_ = np.array([found.get(name, 0.0) for name in self._names])
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """Probabilities of the classes."""
        from khiops import core as kh

        with tempfile.TemporaryDirectory() as folder:
            file = self._write(X, np.full(len(X), ""), folder)
            out = str(Path(folder) / "scores.txt")
            kh.deploy_model(
                self._model, self._model.dictionaries[0].name, file, out, max_cores=1,
                output_header_line=True, output_field_separator="\t", **_FORMAT,
            )  # fmt: skip
            scores = pd.read_csv(out, sep="\t")
        return scores[[f"Prob{_TARGET}{label}" for label in self.classes_]].to_numpy()

    def _write(self, X: pd.DataFrame, y: np.ndarray, folder: str) -> str:
        file = Path(folder) / "table.txt"
        X.set_axis(self._names, axis=1).assign(**{_TARGET: y}).to_csv(file, sep="\t", index=False)
        return str(file)
