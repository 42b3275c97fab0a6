"""Freeze the cut points of Orange's EntropyMDL, for tests/test_mdlp_peer.py to compare with ours.

Run it where Orange is installed (``pip install Orange3``; lessnaive is not needed)::

    python tests/oracles/make_mdlp_cuts.py DATA_HOME

DATA_HOME is a folder with a ``manifest.json`` as :func:`lessnaive.datasets.load` reads it. The
result goes to ``mdlp_cuts.json`` beside this file: for each table the number of rows, and for each
numeric column the cut points as Orange gives them. Gaps stay gaps: Orange leaves them out of a
column, as we do. Variables are formatted with all their digits, because Orange rounds cut points
that would otherwise look the same in its labels.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import Orange
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table
from Orange.preprocess.discretize import EntropyMDL

# Two to 28 classes, whole numbers and fractions, many ties and none; the last five have gaps.
TABLES = (
    "abalone",
    "adult",
    "blood-transfusion",
    "bupa",
    "german-numeric",
    "glass",
    "haberman",
    "heart-statlog",
    "ionosphere",
    "iris",
    "pendigits",
    "pima",
    "satimage",
    "segmentation",
    "sonar",
    "spambase",
    "vehicle",
    "vertebral-2c",
    "vowel",
    "waveform-noise",
    "wdbc",
    "wine",
    "yeast",
    "breast-w",
    "colic",
    "crx",
    "hepatitis",
    "hypothyroid",
)


def read_columns(path: Path) -> dict[str, list[str]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header, *rows = csv.reader(text.decode("utf-8-sig").splitlines())
    return dict(zip(header, (list(cells) for cells in zip(*rows, strict=True)), strict=True))


def cut_points(values: list[str], classes: list[str]) -> list[float]:
    names = tuple(sorted(set(classes)))
    column = ContinuousVariable("x", number_of_decimals=15)
    column.format_str = "%.17g"
    domain = Domain([column], DiscreteVariable("class", values=names))
    x = np.array([[float(cell) if cell else math.nan] for cell in values])
    y = np.array([names.index(label) for label in classes], dtype=float)
    found = EntropyMDL()(Table.from_numpy(domain, x, y), column)
    return [float(point) for point in found.compute_value.points]


def freeze(entry: dict[str, Any], data_home: Path) -> dict[str, Any]:
    columns = read_columns(data_home / entry["file"])
    target = columns[entry["target"]]
    cuts = {name: cut_points(columns[name], target) for name in entry["numeric"]}
    return {"rows": len(target), "cuts": cuts}


def main(data_home: Path) -> None:
    manifest = json.loads((data_home / "manifest.json").read_text(encoding="utf-8"))
    entries = {entry["name"]: entry for entry in manifest}
    tables = {name: freeze(entries[name], data_home) for name in TABLES}
    lines = [f"  {json.dumps(name)}: {json.dumps(table)}" for name, table in tables.items()]
    head = f'"peer": "Orange {Orange.__version__}, EntropyMDL"'
    text = "{\n" + f' {head},\n "tables": {{\n' + ",\n".join(lines) + "\n }\n}\n"
    Path(__file__).with_name("mdlp_cuts.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
