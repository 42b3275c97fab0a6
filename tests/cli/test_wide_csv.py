"""Very wide CSV files are read with types told at once: the same ones that Arrow finds."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pyarrow as pa
import pytest

from lessnaive.cli.csv_parsing import parse_csv
from lessnaive.cli.dialect import Dialect
from lessnaive.cli.reading import TableFile
from lessnaive.cli.wide_csv import FEWEST_COLUMNS, sure_types

POOLS = [
    ["1", "-2", "007", "0", "123456789012345678", "12345678901234567890", "+3", " 4", "1_000"],
    ["1.5", "-0.25", "3", ".5", "5.", "1e3", "1E400", "nan", "NaN", "inf", "-Infinity", "1,5"],
    ["true", "false", "True", "0", "1", "yes", "t"],
    ["2024-01-02", "2024-01-02 03:04:05", "12:30", "2024", "1970-01-01T00:00:00Z", "Monday"],
    ["a", "é", "€ 12", "", "NA", "null", "None", "N/A", "nope", "Inference", "-x", "_", "?"],
]


def write(path: Path, n_rows: int, seed: int) -> TableFile:
    chance = random.Random(seed)
    columns = []
    for _ in range(FEWEST_COLUMNS + 200):
        pool = chance.choice(POOLS)
        cells = chance.sample(pool, chance.randint(1, len(pool)))
        cells += chance.choice([[], [], ["", "NA"], ["?"], ["word"]])
        columns.append([chance.choice(cells) for _ in range(n_rows)])
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"c{j}" for j in range(len(columns))])
        writer.writerows(zip(*columns, strict=True))
    return TableFile(str(path), Dialect(missing=("?",) if seed % 2 else ()))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_same_as_arrow_tells_column_by_column(n_rows, seed, tmp_path):
    file = write(tmp_path / "wide.csv", n_rows, seed)
    assert file._wide_size is not None
    with file._open_text() as text:
        expected = parse_csv(text, file.dialect, ",", {})
    table = file._parse_csv(file._sure_types())
    assert table.schema == expected.schema
    for name, ours, theirs in zip(table.column_names, table.columns, expected.columns, strict=True):
        assert ours.cast(pa.string()).equals(theirs.cast(pa.string())), name


def test_most_columns_are_sure():
    text = {"a": ["1", None], "b": ["1.5", "2"], "c": ["x", "7"], "d": [None, None]}
    assert sure_types(pa.table({k: pa.array(v, pa.string()) for k, v in text.items()})) == {
        "a": pa.int64(),
        "b": pa.float64(),
        "c": pa.string(),
    }


@pytest.mark.parametrize("dialect", [Dialect(decimal=","), Dialect(thousands=",")])
def test_numbers_written_otherwise_are_left_to_arrow(dialect, tmp_path):
    file = write(tmp_path / "wide.csv", 2, 0)
    assert TableFile(file.path, dialect)._sure_types() == {}


def test_what_is_wrong_with_a_wide_file_is_said(cli, tmp_path):
    names = ",".join([f"c{j}" for j in range(2000)] + ["y"])
    for cells, said in (
        (["1"] * 1999 + ["a"], "wide.csv has 2000 cells in line 2, but 2001 in its header"),
        (["\udcff"] * 2000 + ["a"], "column 'c0' of wide.csv is not UTF-8 text"),
    ):
        row = ",".join(cells)
        data = f"{names}\n{row}\n{row}\n".encode(errors="surrogateescape")
        (tmp_path / "wide.csv").write_bytes(data)
        answer = cli("fit", "wide.csv", "--target", "y", "-o", "m.json")
        assert answer.status == 2
        assert said in answer.err, answer.err
