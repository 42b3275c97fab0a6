"""The page "Which model should I use?" says what follows from its data, and nothing else."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "docs" / "studies"
PAGE = ROOT / "docs" / "user_guide" / "which_model.rst"


@pytest.fixture(scope="module")
def big_table():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import big_table
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return big_table


@pytest.fixture(scope="module")
def frame():
    return pd.read_csv(STUDIES / "big_table.csv")


def rows_of(name):
    with (STUDIES / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_tables_of_the_page_follow_from_the_data(big_table, frame, tmp_path):
    big_table.report(frame, tmp_path)
    written = sorted(file.name for file in tmp_path.iterdir())
    assert written
    for name in written:
        assert (tmp_path / name).read_text("utf-8") == (STUDIES / name).read_text("utf-8"), name
    page = PAGE.read_text("utf-8")
    assert all(name in page for name in written)


def test_every_piece_is_there_once(frame, big_table):
    assert not frame.duplicated(["table", "method", "fold"]).any()
    assert (frame.groupby(["table", "method"])["fold"].nunique() == big_table.FOLDS).all()
    assert frame["kind"].notna().all()


def test_pictures_of_the_page_exist():
    pictures = [
        line.split("::")[1].strip() for line in PAGE.read_text().splitlines() if "image::" in line
    ]
    assert len(pictures) >= 8
    assert all((PAGE.parent / picture).exists() for picture in pictures)


@pytest.mark.parametrize("panel", ["methods", "tables"])
def test_what_the_page_says_in_words(panel):
    lines = rows_of(f"big_table_advice_{panel}.csv")
    assert all(line["best average rank"].startswith("LessNaive (") for line in lines)
    assert "those that no choice of LessNaive was made by" in [line["tables"] for line in lines]
    [small] = [line for line in lines if line["tables"] == "up to 300 rows"]
    light = {"AttributeWeightedNB", "HybridLRNB", "AveragedNB", "FractionalNB"}
    near = set(small["not worse than it"].split("; "))
    assert light & near == light if panel == "tables" else len(light & near) >= 3
    ranks = rows_of(f"big_table_ranks_{panel}.csv")
    assert [line["model"] for line in ranks][-3:-1] == ["NaiveBayes", "class frequencies"]
    seconds = {line["model"]: float(line["median s"]) for line in ranks if line["median s"]}
    assert all(seconds[name] < 0.03 for name in light)


def test_slices_of_tables(big_table):
    frame = pd.DataFrame(
        {
            "table": [f"t{i}" for i in range(20)],
            "rows": [100] * 10 + [5000] * 10,
            "classes": [2] * 20,
            "kind": ["numbers"] * 12 + ["mixed"] * 8,
        }
    )
    found = {part.name: len(part.tables) for part in big_table.slices(frame)}
    assert found["all"] == 20
    assert (found["small"], found["large"]) == (10, 10)
    assert (found["numbers"], found["mixed"]) == (12, 8)
    assert "middle" not in found
    assert "more" not in found
