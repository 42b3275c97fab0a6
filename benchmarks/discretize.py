"""MODLEncoder beside Khiops' data preparation, MDLPDiscretizer beside Orange's EntropyMDL.

Run with ``python benchmarks/discretize.py`` (``--quick`` for a tenth of the rows). Times are of the
processor (user and system, of the process and of the programs that it starts), because a busy
machine hurts these least; each is the smallest of ``--repeats`` runs, ours and the peer's in turn.
Everything runs in one thread or process. Making the table is not timed.

Khiops minimizes another criterion than MODLEncoder, so its bins may differ. It reads the table from
a file: writing that file and reading it are shown apart. The file is not counted against Khiops in
the line "without its files".
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything that starts threads is imported

import argparse
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import MDLPDiscretizer, MODLEncoder

Numbers = NDArray[np.float64]
Labels = NDArray[np.int64]


class Result(NamedTuple):
    """One line of the table."""

    task: str
    peer: str
    ours: float
    theirs: float
    wanted: float | None = None


def make_table(rows: int, columns: int) -> tuple[Numbers, Labels]:
    """Make a table of two classes: half of the columns say something about them, half nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, columns))
    for j in range(columns):
        if j % 8 == 0:
            X[:, j] += 0.7 * y  # another mean
        elif j % 8 == 2:
            X[:, j] *= 1 + y  # another spread
        elif j % 8 == 4:
            X[:, j] = np.where(y == 1, np.abs(X[:, j]) ** 1.2, X[:, j])  # another shape
        elif j % 8 == 6:
            X[:, j] = np.round(20 * X[:, j] + 2 * y)  # whole numbers, many equal
    return X, y


def processor_seconds() -> float:
    """Seconds of the processor so far, in this process and in those that it has waited for."""
    others = os.times()
    return process_time() + others.children_user + others.children_system


def timed(function: Callable[[], Any]) -> float:
    start = processor_seconds()
    function()
    return processor_seconds() - start


class Khiops:
    """Data preparation alone: each column by itself, no constructed ones, no model."""

    def __init__(self, folder: Path, X: Numbers, y: Labels) -> None:
        # Khiops looks for its own programs on the path, where an environment's are only once it is
        # activated.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        from khiops import core

        self.core, self.folder = core, folder
        names = [f"x{j}" for j in range(X.shape[1])]
        self.writing = timed(lambda: self._write(X, y, names))
        dictionary = core.Dictionary()
        dictionary.name = "table"
        kinds = [*((name, "Numerical") for name in names), ("class", "Categorical")]
        for name, kind in kinds:
            variable = core.Variable()
            variable.name, variable.type = name, kind
            dictionary.add_variable(variable)
        self.domain = core.DictionaryDomain()
        self.domain.add_dictionary(dictionary)
        self.format = {"detect_format": False, "header_line": True, "field_separator": "\t"}

    def _write(self, X: Numbers, y: Labels, names: list[str]) -> None:
        import pandas as pd

        frame = pd.DataFrame(X, columns=names)
        frame["class"] = y
        frame.to_csv(self.folder / "table.txt", sep="\t", index=False)

    def read(self) -> None:
        """Read the file and do nothing with it."""
        table = str(self.folder / "table.txt")
        self.core.check_database(self.domain, "table", table, max_cores=1, **self.format)

    def prepare(self) -> None:
        """Find the bins."""
        self.core.train_predictor(
            self.domain,
            "table",
            str(self.folder / "table.txt"),
            "class",
            str(self.folder / "report.khj"),
            sample_percentage=100,
            use_complement_as_test=False,
            do_data_preparation_only=True,
            max_constructed_variables=0,
            max_text_features=0,
            max_trees=0,
            max_pairs=0,
            max_cores=1,
            **self.format,
        )


def against_khiops(X: Numbers, y: Labels, repeats: int) -> list[Result]:
    what = f"MODL, {X.shape[0]:,} x {X.shape[1]}"
    ours = theirs = reading = np.inf
    with TemporaryDirectory() as folder:
        khiops = Khiops(Path(folder), X, y)
        for _ in range(repeats):
            ours = min(ours, timed(lambda: MODLEncoder().fit(X, y)))
            theirs = min(theirs, timed(khiops.prepare))
            reading = min(reading, timed(khiops.read))
    print(f"{'':<28} Khiops' files: {khiops.writing:.1f} s to write, {reading:.1f} s to read")
    return [
        Result(what, "Khiops' data preparation", ours, theirs, 15),
        Result(what, "  without its files", ours, theirs - reading),
    ]


def against_orange(X: Numbers, y: Labels, repeats: int) -> list[Result]:
    from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table
    from Orange.preprocess.discretize import EntropyMDL

    columns = [ContinuousVariable(f"x{j}") for j in range(X.shape[1])]
    target = DiscreteVariable("class", values=("0", "1"))
    table = Table.from_numpy(Domain(columns, target), X, y)
    ours = theirs = np.inf
    for _ in range(repeats):
        ours = min(ours, timed(lambda: MDLPDiscretizer().fit(X, y)))
        theirs = min(theirs, timed(lambda: [EntropyMDL()(table, column) for column in columns]))
    what = f"MDLP, {X.shape[0]:,} x {X.shape[1]}"
    return [Result(what, "Orange's EntropyMDL", ours, theirs, 10)]


def alone(X: Numbers, y: Labels, repeats: int) -> None:
    """Our own times, for those who have no peer installed."""
    for name, encoder in (("MODL", MODLEncoder()), ("MDLP", MDLPDiscretizer())):
        best = min(timed(lambda e=encoder: e.fit(X, y)) for _ in range(repeats))
        print(f"{name}, {X.shape[0]:,} x {X.shape[1]}: {best:.2f} s", flush=True)


PEERS: dict[str, tuple[str, Callable[[Numbers, Labels, int], list[Result]]]] = {
    "khiops": ("khiops", against_khiops),
    "Orange": ("Orange3", against_orange),
}


def show(result: Result) -> None:
    ratio = result.theirs / result.ours
    wanted = "" if result.wanted is None else f"{result.wanted:>6.2g}x"
    missed = "  MISSED" if result.wanted is not None and ratio < result.wanted else ""
    print(
        f"{result.task:<28} {result.peer:<26} {result.ours:>8.2f}s {result.theirs:>8.2f}s "
        f"{ratio:>7.1f}x {wanted}{missed}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    installed = []
    for module, (package, race) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"{package} is not installed, and left out: pip install {package}")
        else:
            installed.append(race)
    if installed:
        print(f"{'task':<28} {'peer':<26} {'ours':>9} {'peer':>9} {'ratio':>8} {'wanted':>7}")
    for rows, columns in ((1_000_000, 10), (100_000, 100)):
        X, y = make_table(rows // 10 if options.quick else rows, columns)
        small = X[:1000], y[:1000]
        MODLEncoder().fit(*small)  # whatever is done once is done before the clock starts
        MDLPDiscretizer().fit(*small)
        for race in installed:
            for result in race(X, y, options.repeats):
                show(result)
        if not installed:
            alone(X, y, options.repeats)


if __name__ == "__main__":
    main()
