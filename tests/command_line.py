"""What the tests of the command line share."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

from lessnaive.datasets.penguins import PENGUINS_CSV

PENGUINS = str(PENGUINS_CSV)
#: The command, for tests that need a process of its own.
COMMAND = [sys.executable, "-c", "from lessnaive.cli import main; main()"]
#: A small table with gaps.
TABLE = "x,c,y\n1.5,a,yes\n2.5,b,no\n,a,yes\n4,,no\n"


class Answer(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


def write(name, content):
    """Write a file and return its name."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def rows_of(text):
    """Return the rows of a CSV text."""
    return list(csv.DictReader(io.StringIO(text)))


def fitted_on(well, content, *options, name="t.csv"):
    """Fit m.json to a table with the target y, and return its scorecard as plain data."""
    well("fit", write(name, content), "--target", "y", "-o", "m.json", *options)
    return json.loads(Path("m.json").read_text())["scorecard"]


def refused(answer, message):
    """Assert that the answer is one sentence on stderr with status 2, and nothing else."""
    assert answer == Answer(2, "", f"lessnaive: {message}\n")
