"""The command points."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from command_line import refused, write

TABLE = "home,y\n" + "own,paid\n" * 6 + "rent,paid\n" * 2 + "rent,default\n" * 4 + "own,default\n"


@pytest.fixture
def loans(well):
    well("fit", write("t.csv", TABLE), "--target", "y", "--model", "NaiveBayes", "-o", "m.json")
    return "m.json"


def test_points_are_shown(well, loans):
    shown = well("points", loans, "--good", "paid")
    lines = [line.split() for line in shown.splitlines() if line]
    assert lines[0] == ["home", "(information", "value", "0.970)"]
    assert lines[1] == ["value", "points", "rows", "weight", "of", "evidence"]
    assert [line[0] for line in lines[2:6]] == ["(missing)", "own", "rent", "(unseen)"]
    assert shown.splitlines()[-1] == (
        "600 points are odds of 50 to 1 for 'paid', and 20 more double them"
    )


def test_points_are_written(well, loans):
    assert well("points", loans, "--exact", "-o", "points.csv") == "wrote points.csv\n"
    with Path("points.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        *("column", "value", "points", "count", "count[default]", "count[paid]", "woe", "iv")
    ]
    assert [row["value"] for row in rows] == ["(missing)", "own", "rent", "(unseen)"]
    assert any(float(row["points"]) % 1 for row in rows)


def test_wrong_input(cli, loans, model):
    refused(
        cli("points", loans, "--good", "maybe"),
        "--good 'maybe' is not a class of the model: 'default', 'paid'.",
    )
    refused(cli("points", loans, "--pdo", "0"), "pdo must be a number above 0, got 0.0.")
    refused(cli("points", model), "Points are for two classes, and this model has 3.")
    refused(
        cli("points", loans, "-o", "points.txt"),
        "cannot write 'points.txt': its name must end in .csv, .tsv, .csv.gz or .parquet.",
    )
