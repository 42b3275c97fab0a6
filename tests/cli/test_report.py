"""lessnaive report."""

from __future__ import annotations

import pytest

from command_line import PENGUINS


def test_a_report(well, model, tmp_path):
    out = well("report", model, "-o", "report.html", "--intended-use", "Birds only.")
    assert out == "wrote report.html: open it in a browser\n"
    html = (tmp_path / "report.html").read_text("utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert "Birds only." in html
    assert 'id="performance"' not in html


def test_a_report_with_a_table(well, model, tmp_path):
    well("report", model, PENGUINS, "--target", "species", "-o", "r.html", "--title", "My birds")
    html = (tmp_path / "r.html").read_text("utf-8")
    assert "<title>My birds</title>" in html
    assert 'id="performance"' in html
    assert "seem to be the rows that the model was learned from" in html


def test_a_table_without_a_target(well, model, tmp_path):
    well("report", model, PENGUINS, "-o", "r.html")
    assert 'id="performance"' not in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.json", "-o", "r.html"], "there is no model file 'nothing.json'."),
        (["MODEL", "-o", "r.txt"], "cannot write 'r.txt': its name must end in .html or .htm."),
        (["MODEL", "-o", "no/r.html"], "cannot write 'no/r.html': its folder does not exist."),
        (["MODEL", "-o", "r.html", "--target", "a"], "are about a table, and none is given."),
        (
            ["MODEL", str(PENGUINS), "--target", "kind", "-o", "r.html"],
            "--target 'kind' is not a column",
        ),
        (["MODEL", "missing.csv", "-o", "r.html"], "missing.csv"),
    ],
)
def test_wrong_input(cli, model, tmp_path, arguments, message):
    given = [str(model) if word == "MODEL" else word for word in arguments]
    answer = cli("report", *given)
    assert answer.status == 2
    assert message in answer.err
    assert "Traceback" not in answer.err
    assert not (tmp_path / "r.html").exists()


def test_three_files_are_too_many(cli, model):
    answer = cli("report", model, PENGUINS, PENGUINS, "-o", "r.html")
    assert answer.status == 2
    assert "Give a model, or a model and a table" in answer.err
