"""CFSSelector against WEKA's CfsSubsetEval, on real tables.

The peer's choices are frozen in ``oracles/cfs_subsets.json`` by ``oracles/make_cfs_subsets.py``.
They differ in two tables, for one reason: WEKA takes columns whose symmetrical uncertainty is 0 to
be fully redundant. In "car", where the columns were combined in all ways, that is every pair. Done
in the same way, ours are the same in these tables too.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from lessnaive import CFSSelector, datasets
from lessnaive.selection.dependence import Dependence

ROOT = Path(__file__).resolve().parents[1]
DATA_HOME = Path(os.environ.get("LESSNAIVE_DATA_HOME", ROOT.parent / "shared" / "datasets"))
PEER = json.loads(Path(__file__).with_name("oracles").joinpath("cfs_subsets.json").read_text())
INDEPENDENT_IS_REDUNDANT = ("car", "hypothyroid")


def as_in_weka(self: Dependence, column: int) -> np.ndarray:
    """Symmetrical uncertainty, with 1 where it is 0."""
    row = EXACT(self, column)
    return np.where(row < 1e-6, 1.0, row)


EXACT = Dependence.of


@pytest.mark.skipif(not (DATA_HOME / "manifest.json").exists(), reason="the tables are not here")
@pytest.mark.parametrize("search", ["forward", "best_first"])
@pytest.mark.parametrize("name", PEER["tables"])
def test_the_same_columns_are_selected(name, search, monkeypatch):
    if name in INDEPENDENT_IS_REDUNDANT:
        monkeypatch.setattr(Dependence, "of", as_in_weka)
    expected = PEER["tables"][name][search]
    X, y = datasets.load(name, DATA_HOME)
    assert len(y) == PEER["tables"][name]["rows"]
    options = {"search": search, "min_features": 0}
    selector = CFSSelector(**options).fit(X, y)
    assert X.columns[selector.support_].tolist() == expected["columns"]
    # WEKA keeps correlations as 32-bit floats.
    assert selector.merit_ == pytest.approx(expected["merit"], rel=1e-6)
    selector = CFSSelector(locally_predictive=True, **options).fit(X, y)
    assert X.columns[selector.support_].tolist() == expected["with_local"]


def test_the_frozen_tables_are_many_and_not_trivial():
    assert PEER["peer"].startswith("WEKA 3.9")
    found = [table["best_first"] for table in PEER["tables"].values()]
    assert len(found) >= 20
    assert sum(len(one["columns"]) > 3 for one in found) >= 10
    assert sum(one["columns"] != one["with_local"] for one in found) >= 5
    assert any(table["forward"] != table["best_first"] for table in PEER["tables"].values())
