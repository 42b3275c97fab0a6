"""The command export: what it writes, and what it says to wrong input."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest

from command_line import PENGUINS, refused


def test_python(well, model):
    assert well("export", model, "--to", "python", "-o", "model.py") == "wrote model.py\n"
    assert well("export", model, "--to", "python") == Path("model.py").read_text("utf-8")


def test_javascript(well, model):
    text = well("export", model, "--to", "javascript")
    assert "export const { classes, columns, predictProba" in text


def test_sql(well, model):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("sqlglot")
    options = ["--to", "sql", "--dialect", "duckdb", "--table", "penguins", "--keep", "year"]
    query = well("export", model, *options, "-o", "-")
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE penguins AS SELECT * FROM read_csv('{PENGUINS}', nullstr='NA')"
    )
    found = connection.execute(query).fetchall()
    wanted = csv.reader(io.StringIO(well("predict", model, PENGUINS, "--keep", "year")))
    assert next(wanted) == [column[0] for column in connection.description]
    for row, (year, label, *probabilities) in zip(found, wanted, strict=True):
        assert (row[0], row[1]) == (int(year), label)
        assert row[2:] == pytest.approx(list(map(float, probabilities)), abs=1e-12)


def test_onnx(well, model):
    onnx = pytest.importorskip("onnx")
    well("export", model, "--to", "onnx", "--precision", "float", "-o", "m.onnx")
    graph = onnx.load("m.onnx")
    assert graph.graph.output[1].type.tensor_type.elem_type == onnx.TensorProto.FLOAT


def test_xlsx(well, model):
    openpyxl = pytest.importorskip("openpyxl")
    well("export", model, "--to", "xlsx", "--rows", "3", "-o", "m.xlsx")
    sheet = openpyxl.load_workbook("m.xlsx")["Inputs"]
    assert sheet.max_row == 4
    assert sheet["A1"].value == "island"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "python", "--dialect", "duckdb"], "--dialect does not go with --to python."),
        (["--to", "onnx"], "--to onnx needs -o: what it writes is no text."),
        (["--to", "onnx", "--keep", "year"], "--keep does not go with --to onnx."),
        (
            ["--to", "sql"],
            "--to sql needs --dialect: duckdb, postgres, sqlite, bigquery, snowflake, spark, "
            "mysql, tsql.",
        ),
        (
            ["--to", "python", "-o", "no/folder"],
            "cannot write 'no/folder': its folder does not exist.",
        ),
    ],
)
def test_wrong_options(cli, model, options, message):
    refused(cli("export", model, *options), message)


def test_a_missing_package_is_named(cli, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    monkeypatch.delitem(sys.modules, "lessnaive.deploy.sql", raising=False)
    monkeypatch.delitem(sys.modules, "lessnaive.deploy.sql_dialects", raising=False)
    for module in ("lessnaive", "lessnaive.deploy"):
        monkeypatch.delitem(vars(sys.modules[module]), "to_sql", raising=False)
    answer = cli("export", model, "--to", "sql", "--dialect", "duckdb")
    refused(answer, "SQL needs sqlglot: pip install 'lessnaive[sql]'.")


def test_a_failed_write_leaves_the_old_file(cli, model):
    Path("model.py").write_text("old")
    answer = cli("export", model, "--to", "sql", "-o", "model.py")
    assert answer.status == 2
    assert Path("model.py").read_text() == "old"
