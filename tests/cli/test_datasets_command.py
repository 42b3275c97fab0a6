"""The list of tables."""

from __future__ import annotations

from command_line import refused


def test_tables_are_listed_with_their_sizes(well, tmp_path, monkeypatch):
    (tmp_path / "fruit.csv").write_text("weight,colour,fruit\n151,red,apple\n,green,pear\n9,,fig\n")
    out = well("datasets", "--data-home", tmp_path)
    lines = [line.split() for line in out.splitlines()]
    assert ["name", "target", "rows", "columns", "classes", "gaps"] in lines
    assert ["fruit", "fruit", "3", "2", "3", "2"] in lines
    assert ["penguins", "species", "344", "7", "3", "19"] in lines
    assert "To be had from OpenML: abalone, adult" in out
    monkeypatch.setenv("LESSNAIVE_DATA_HOME", str(tmp_path))
    assert well("datasets") == out


def test_without_a_folder_there_are_the_penguins(well, monkeypatch):
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)
    out = well("datasets")
    assert out.startswith("1 table: no folder of tables (LESSNAIVE_DATA_HOME is not set)")


def test_a_folder_that_does_not_exist(cli, tmp_path):
    folder = tmp_path / "nowhere"
    refused(
        cli("datasets", "--data-home", folder),
        f"The folder of tables {folder} does not exist: set LESSNAIVE_DATA_HOME to one that does.",
    )
