"""Models as workbooks, recalculated by LibreOffice."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lessnaive as ln
from deploy_cases import FAMILY, TEXT, edges_beside_decimals, fitted, rows_to_predict
from other_programs import environment
from term_cases import example_card, example_rows

openpyxl = pytest.importorskip("openpyxl")

needs_office = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice is not installed"
)


def fill(workbook: Any, X: pd.DataFrame) -> None:
    """Type the values of rows as a person would do."""
    sheet = workbook["Inputs"]
    places = {cell.value: cell.column for cell in sheet[1]}
    for name in X.columns:
        if name not in places:
            continue  # the model does not use it
        for row, value in enumerate(X[name], start=2):
            if value is None or value != value:
                continue
            cell = sheet.cell(row, places[name])
            cell.value = value.to_pydatetime() if isinstance(value, pd.Timestamp) else value
            if value == "":
                cell.value = '=""'  # else it would be an empty cell
            elif isinstance(value, str):
                cell.data_type = "s"


def recalculated(paths: list[Path], folder: Path) -> list[Any]:
    """Let LibreOffice compute and save workbooks; return their sheets of inputs."""
    out, profile = folder / "out", (folder / "profile").as_uri()
    command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "xlsx"]
    command += ["--outdir", str(out), *map(str, paths)]
    subprocess.run(command, check=True, capture_output=True, timeout=900, env=environment())
    return [openpyxl.load_workbook(out / path.name, data_only=True)["Inputs"] for path in paths]


def check_family(X: pd.DataFrame, folder: Path) -> None:
    paths = []
    for name in FAMILY:
        workbook = ln.to_xlsx(fitted(name), rows=len(X))
        fill(workbook, X)
        paths.append(folder / f"{name}.xlsx")
        workbook.save(paths[-1])
    for name, sheet in zip(FAMILY, recalculated(paths, folder), strict=True):
        check(sheet, fitted(name), X)


def check(sheet: Any, model: Any, X: pd.DataFrame) -> None:
    header, *rows = sheet.iter_rows(values_only=True)
    first = header.index("predicted")
    assert list(header[first + 1 :]) == [f"probability_{label}" for label in model.classes_]
    probabilities = np.array([row[first + 1 :] for row in rows], dtype=float)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-9)
    assert [row[first] for row in rows] == model.predict(X).tolist()


@needs_office
def test_all_models_on_some_rows(tmp_path):
    check_family(rows_to_predict()[:40], tmp_path)


@needs_office
@pytest.mark.slow
def test_all_models_on_all_rows(tmp_path):
    check_family(rows_to_predict(), tmp_path)


@needs_office
def test_every_kind_of_term(tmp_path):
    card, rows = example_card(), example_rows(60)
    workbook = ln.to_xlsx(card, rows=len(rows))
    fill(workbook, pd.DataFrame(rows, columns=["x0", "x1", "x2", "x3"]))
    workbook.save(tmp_path / "m.xlsx")
    [sheet] = recalculated([tmp_path / "m.xlsx"], tmp_path)
    found = [row[5:] for row in sheet.iter_rows(min_row=2, values_only=True)]
    wanted = card.probability(rows)
    np.testing.assert_allclose(np.array(found, dtype=float), wanted, rtol=0, atol=1e-12)


@needs_office
def test_edges_beside_decimals(tmp_path):
    """Spreadsheets take an edge that is a little less than a decimal for that decimal."""
    model, X = edges_beside_decimals()
    X = X[:5]  # without the edges, which no person types
    workbook = ln.to_xlsx(model, rows=len(X))
    fill(workbook, X)
    workbook.save(tmp_path / "m.xlsx")
    [sheet] = recalculated([tmp_path / "m.xlsx"], tmp_path)
    check(sheet, model, X)


def test_text_is_never_a_formula():
    """Whatever names, values and labels begin with; only cells that we compute are formulas."""
    workbook = ln.to_xlsx(fitted("LessNaiveClassifier"), rows=3)
    wanted = {*fitted("LessNaiveClassifier").scorecard_.schema.names}
    found = {cell.value for cell in workbook["Inputs"][1]}
    assert wanted <= found
    for cell in (cell for name in ("Inputs", "Scores") for row in workbook[name] for cell in row):
        if cell.data_type == "f":
            assert name_of(cell) == "Inputs"
            assert cell.row > 1
    for row in workbook["Steps"].iter_rows(min_row=2):
        assert all(cell.data_type == "f" for cell in row)
    assert {cell.data_type for cell in workbook["Steps"][1]} == {"s"}


def name_of(cell: Any) -> str:
    return str(cell.parent.title)


def test_what_no_workbook_holds_is_refused():
    X = pd.DataFrame({"x": pd.Series([1, "a", 1, "b"], dtype=object)})
    model = ln.NaiveBayes().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="Column 'x' held text and numbers when the model was fit"):
        ln.to_xlsx(model)
    model = ln.NaiveBayes().fit(pd.DataFrame({"x": ["a\x00", "b"] * 2}), [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"'a\\x00' has a character that no workbook can hold"):
        ln.to_xlsx(model)
    X = pd.DataFrame({"id": pd.Series([2**60, 2**60 + 1] * 2)})
    model = ln.NaiveBayes(categorical_features="all").fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"Column 'id' has integers from 2\*\*53 on as names"):
        ln.to_xlsx(model)
    rng = np.random.default_rng(0)
    wide = ln.NaiveBayes(numeric="gaussian").fit(rng.normal(size=(20, 61)), np.arange(20) % 2)
    with pytest.raises(
        ValueError, match="uses 61 columns, and a workbook is for 60 at most: fit a"
    ):
        ln.to_xlsx(wide)
    with pytest.raises(ValueError, match="rows must be from 1 to 100000, got 0"):
        ln.to_xlsx(model, rows=0)


def test_known_values_are_offered():
    workbook = ln.to_xlsx(fitted("NaiveBayes"))
    sheet = workbook["Inputs"]
    [column] = [cell.column_letter for cell in sheet[1] if cell.value == TEXT]
    [offered] = [own for own in sheet.data_validations.dataValidation if column in str(own.sqref)]
    assert offered.formula1.startswith("Scores!")
    assert not offered.showErrorMessage
