"""MDLP against Orange's EntropyMDL, on real tables.

The peer's cut points are frozen in ``oracles/mdlp_cuts.json`` by ``oracles/make_mdlp_cuts.py``.
There is no difference to explain: both cut halfway between differing values, take the lowest of
equally good cuts, charge log2(N - 1) for a cut of N rows, and leave gaps out. (Left alone, Orange
rounds cut points that look the same in its labels; the script asks for all digits.)
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lessnaive import MDLPDiscretizer, datasets

ROOT = Path(__file__).resolve().parents[1]
DATA_HOME = Path(os.environ.get("LESSNAIVE_DATA_HOME", ROOT.parent / "shared" / "datasets"))
PEER = json.loads(Path(__file__).with_name("oracles").joinpath("mdlp_cuts.json").read_text())


@pytest.mark.skipif(not (DATA_HOME / "manifest.json").exists(), reason="the tables are not here")
@pytest.mark.parametrize("name", PEER["tables"])
def test_cut_points_are_equal(name):
    expected = PEER["tables"][name]
    X, y = datasets.load(name, DATA_HOME)
    assert len(y) == expected["rows"]
    discretizer = MDLPDiscretizer().fit(X[list(expected["cuts"])], y)
    found = [cuts.tolist() for cuts in discretizer.cuts_]
    assert dict(zip(expected["cuts"], found, strict=True)) == expected["cuts"]


def test_the_frozen_tables_are_many_and_not_trivial():
    assert PEER["peer"].startswith("Orange 3.")
    assert len(PEER["tables"]) >= 15
    assert all(any(table["cuts"].values()) for table in PEER["tables"].values())
