"""Running the command line in this process."""

from __future__ import annotations

import io

import pytest

from command_line import PENGUINS, Answer
from lessnaive.cli.running import run


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments, stdin=b""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run([str(argument) for argument in arguments])
        return Answer(status, *capsys.readouterr())

    return run_command


@pytest.fixture
def well(cli):
    """Run a command that must succeed without a word on stderr, and return what it prints."""

    def run_command(*arguments, **options):
        answer = cli(*arguments, **options)
        assert (answer.status, answer.err) == (0, "")
        return answer.out

    return run_command


@pytest.fixture
def model(well):
    """Return a model file of naive Bayes of the penguins."""
    well("fit", PENGUINS, "--target", "species", "--model", "NaiveBayes", "-o", "model.json")
    return "model.json"
