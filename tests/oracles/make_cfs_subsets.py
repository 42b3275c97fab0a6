"""Freeze what WEKA's CfsSubsetEval selects, for tests/test_cfs_peer.py to compare with ours.

Run it where WEKA is installed (``pip install python-weka-wrapper3``, which needs Java; lessnaive is
not needed)::

    python tests/oracles/make_cfs_subsets.py DATA_HOME

DATA_HOME is a folder with a ``manifest.json`` as :func:`lessnaive.datasets.load` reads it. The
result goes to ``cfs_subsets.json`` beside this file: for each table and each search the columns
that WEKA selects and the merit of the subset before locally predictive columns are added.

WEKA's own discretization inside CfsSubsetEval charges less for cuts where values are repeated
("better encoding"). So numeric columns are discretized beforehand by WEKA's Discretize filter,
which by default charges as Fayyad and Irani do; CfsSubsetEval then sees nominal columns only. Gaps
stay gaps.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import sys
from pathlib import Path
from typing import Any

import weka.core.jvm as jvm
from jpype import JClass
from weka.attribute_selection import ASEvaluation, ASSearch, AttributeSelection
from weka.core.dataset import Attribute, Instance, Instances, missing_value
from weka.core.version import weka_version
from weka.filters import Filter

# Few columns and many, numbers and names; from "breast-w" on with gaps.
TABLES = (
    "abalone",
    "adult",
    "car",
    "german-numeric",
    "glass",
    "heart-statlog",
    "ionosphere",
    "iris",
    "kr-vs-kp",
    "pima",
    "segmentation",
    "sonar",
    "spambase",
    "vehicle",
    "waveform-noise",
    "wdbc",
    "wine",
    "yeast",
    "breast-w",
    "colic",
    "crx",
    "hepatitis",
    "hypothyroid",
    "mushroom",
    "soybean",
    "vote",
)
SEARCHES = {
    "forward": ("weka.attributeSelection.GreedyStepwise", []),
    "best_first": ("weka.attributeSelection.BestFirst", ["-D", "1", "-N", "5"]),
}


def read_columns(path: Path) -> dict[str, list[str]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header, *rows = csv.reader(text.decode("utf-8-sig").splitlines())
    return dict(zip(header, (list(cells) for cells in zip(*rows, strict=True)), strict=True))


def instances(columns: dict[str, list[str]], numeric: set[str], target: str) -> Instances:
    names = [name for name in columns if name != target] + [target]
    attributes, cells = [], []
    for name in names:
        if name in numeric:
            attributes.append(Attribute.create_numeric(name))
            cells.append([float(cell) if cell else missing_value() for cell in columns[name]])
        else:
            labels = sorted({cell for cell in columns[name] if cell})
            attributes.append(Attribute.create_nominal(name, labels))
            place = {label: float(code) for code, label in enumerate(labels)}
            cells.append([place[c] if c else missing_value() for c in columns[name]])
    data = Instances.create_instances("table", attributes, len(cells[0]))
    for row in zip(*cells, strict=True):
        data.add_instance(Instance.create_instance(list(row)))
    data.class_is_last()
    return data


def discretized(data: Instances) -> Instances:
    cut = Filter(
        classname="weka.filters.supervised.attribute.Discretize", options=["-R", "first-last"]
    )
    cut.inputformat(data)
    return cut.filter(data)


def select(data: Instances, search: str, *, local: bool) -> list[int]:
    kind, options = SEARCHES[search]
    selection = AttributeSelection()
    evaluator = "weka.attributeSelection.CfsSubsetEval"
    selection.evaluator(ASEvaluation(classname=evaluator, options=[] if local else ["-L"]))
    selection.search(ASSearch(classname=kind, options=list(options)))
    selection.select_attributes(data)
    chosen = [int(place) for place in selection.selected_attributes]
    return sorted(place for place in chosen if place != data.class_index)


def merit(data: Instances, subset: list[int]) -> float:
    evaluator = ASEvaluation(classname="weka.attributeSelection.CfsSubsetEval")
    evaluator.build_evaluator(data)
    bits = JClass("java.util.BitSet")(data.num_attributes)
    for place in subset:
        bits.set(place)
    return float(evaluator.jobject.evaluateSubset(bits))


def freeze(entry: dict[str, Any], data_home: Path) -> dict[str, Any]:
    columns = read_columns(data_home / entry["file"])
    used = {*entry["numeric"], *entry["categorical"], entry["target"]}
    columns = {name: cells for name, cells in columns.items() if name in used}
    data = discretized(instances(columns, set(entry["numeric"]), entry["target"]))
    names = [data.attribute(i).name for i in range(data.num_attributes)]
    out: dict[str, Any] = {"rows": data.num_instances}
    for search in SEARCHES:
        found = select(data, search, local=False)
        value = merit(data, found)
        assert not math.isnan(value)
        out[search] = {
            "columns": [names[place] for place in found],
            "with_local": [names[place] for place in select(data, search, local=True)],
            "merit": value,
        }
    return out


def main(data_home: Path) -> None:
    manifest = json.loads((data_home / "manifest.json").read_text(encoding="utf-8"))
    entries = {entry["name"]: entry for entry in manifest}
    jvm.start(packages=False)
    try:
        tables = {name: freeze(entries[name], data_home) for name in TABLES}
        peer = f"WEKA {weka_version()}, CfsSubsetEval"
    finally:
        jvm.stop()
    lines = [f"  {json.dumps(name)}: {json.dumps(table)}" for name, table in tables.items()]
    text = (
        "{\n" + f' "peer": {json.dumps(peer)},\n "tables": {{\n' + ",\n".join(lines) + "\n }\n}\n"
    )
    Path(__file__).with_name("cfs_subsets.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
