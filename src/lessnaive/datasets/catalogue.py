"""What tables there are: in the package, in a folder, and at OpenML."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessnaive.datasets.csv_file import read_csv
from lessnaive.datasets.penguins import PENGUINS_CSV
from lessnaive.exceptions import TableError

__all__ = ["OPENML", "TableInfo", "available", "find", "home_of", "no_folder"]

#: By our names of tables, their numbers at OpenML and what they are called there.
OPENML: dict[str, tuple[int, str]] = {
    "abalone": (183, "abalone"),
    "adult": (1590, "adult"),
    "australian": (40981, "Australian"),
    "balance-scale": (11, "balance-scale"),
    "blood-transfusion": (1464, "blood-transfusion-service-center"),
    "breast-w": (15, "breast-w"),
    "car": (40975, "car"),
    "colic": (25, "colic"),
    "crx": (29, "credit-approval"),
    "dermatology": (35, "dermatology"),
    "electricity": (151, "electricity"),
    "german": (31, "credit-g"),
    "glass": (41, "glass"),
    "haberman": (43, "haberman"),
    "heart-statlog": (53, "heart-statlog"),
    "hepatitis": (55, "hepatitis"),
    "ilpd": (1480, "ilpd"),
    "ionosphere": (59, "ionosphere"),
    "iris": (61, "iris"),
    "kr-vs-kp": (3, "kr-vs-kp"),
    "krkopt": (184, "kropt"),
    "letter": (6, "letter"),
    "lymph": (10, "lymph"),
    "mammography": (310, "mammography"),
    "mushroom": (24, "mushroom"),
    "pendigits": (32, "pendigits"),
    "phishing": (4534, "PhishingWebsites"),
    "pima": (37, "diabetes"),
    "satimage": (182, "satimage"),
    "segmentation": (36, "segment"),
    "shuttle": (40685, "shuttle"),
    "skin": (1502, "skin-segmentation"),
    "sonar": (40, "sonar"),
    "soybean": (42, "soybean"),
    "spambase": (44, "spambase"),
    "tic-tac-toe": (50, "tic-tac-toe"),
    "vehicle": (54, "vehicle"),
    "vote": (56, "vote"),
    "vowel": (307, "vowel"),
    "waveform-noise": (60, "waveform-5000"),
    "wdbc": (1510, "wdbc"),
    "wine": (187, "wine"),
    "yeast": (181, "yeast"),
    "zoo": (62, "zoo"),
}

_ENDINGS = (".csv", ".csv.gz")


@dataclass(frozen=True)
class TableInfo:
    """What is known of a table before it is loaded.

    Attributes
    ----------
    name : str
        What :func:`load` knows it by.
    rows, columns : int
        Its size, the target not counted.
    classes : int or None
        Number of classes; None if the target is a quantity.
    gaps : int
        Number of missing cells.
    target : str
        The column with the classes.
    file : Path
        Where it is.
    """

    name: str
    rows: int
    columns: int
    classes: int | None
    gaps: int
    target: str
    file: Path


def home_of(data_home: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of tables, if there is one: as given, else as the environment says."""
    given = data_home or os.environ.get("LESSNAIVE_DATA_HOME")
    return None if not given else Path(given).expanduser()


def no_folder(home: Path) -> str:
    """Say that a folder of tables is not there."""
    return f"The folder of tables {home} does not exist: set LESSNAIVE_DATA_HOME to one that does."


def available(data_home: str | os.PathLike[str] | None = None) -> list[TableInfo]:
    """List the tables that :func:`load` has at hand, without going to OpenML.

    Files that the manifest does not know are read to see how large they are.

    Parameters
    ----------
    data_home : path-like, optional
        The folder of tables; by default the one that LESSNAIVE_DATA_HOME names, if any.

    Returns
    -------
    list of TableInfo
        By name.

    Examples
    --------
    >>> from lessnaive import datasets
    >>> penguins = next(t for t in datasets.available() if t.name == "penguins")
    >>> penguins.rows, penguins.columns, penguins.classes, penguins.gaps
    (344, 7, 3, 19)
    """
    home = home_of(data_home)
    found = {"penguins": _PENGUINS}
    if home is not None:
        if not home.is_dir():
            raise FileNotFoundError(no_folder(home))
        entries = _manifest(home)
        listed = {home / str(entry["file"]) for entry in entries}
        loose = {_stem(f): f for f in home.iterdir() if f.name.endswith(_ENDINGS)}
        found |= {n: _measured(n, f) for n, f in loose.items() if f not in listed}
        found |= {str(entry["name"]): _described(entry, home) for entry in entries}
    return sorted(found.values(), key=lambda table: table.name)


def find(name: str, home: Path | None) -> tuple[Path, dict[str, Any]] | None:
    """Look for a table: its file, and what is known of it; None if it is not at hand."""
    if home is not None:
        for entry in _manifest(home):
            if entry["name"] == name:
                return home / str(entry["file"]), entry
        for ending in _ENDINGS:
            if (home / (name + ending)).exists():
                return home / (name + ending), {}
    if name == "penguins":
        return PENGUINS_CSV, {"target": "species", "missing": ("NA",)}
    return None


_PENGUINS = TableInfo("penguins", 344, 7, 3, 19, "species", PENGUINS_CSV)


def _manifest(home: Path) -> list[dict[str, Any]]:
    """Read the list of tables in a folder, if it has one."""
    file = home / "manifest.json"
    if not file.exists():
        return []
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TableError(f"{file} is not a list in JSON: {error}.") from None
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get(key), str)
        for entry in entries
        for key in ("name", "file")
    ):
        raise TableError(f"{file} must be a list of objects with a name and a file each.")
    return entries


def _described(entry: dict[str, Any], home: Path) -> TableInfo:
    """Take what the manifest says of a table; what it does not say is looked for in the file."""
    file, name = home / str(entry["file"]), str(entry["name"])
    if not {"rows", "features", "classes", "missing_cells", "target"} <= entry.keys():
        return _measured(name, file, entry.get("target"), tuple(entry.get("categorical", ())))
    return TableInfo(
        name=name,
        rows=entry["rows"],
        columns=entry["features"],
        classes=entry["classes"],
        gaps=entry["missing_cells"],
        target=entry["target"],
        file=file,
    )


def _measured(
    name: str, file: Path, target: str | None = None, text: tuple[str, ...] = ()
) -> TableInfo:
    """Read a file to see how large its table is."""
    columns = read_csv(file, text=text)
    wanted = list(columns)[-1] if target is None else target
    if wanted not in columns:
        raise TableError(f"{file} has no column {wanted!r}, the target of {name!r}.")
    y = columns[wanted]
    gaps = sum(c.count(None) for other, c in columns.items() if other != wanted)
    classes = len({value for value in y if value is not None})
    return TableInfo(name, len(y), len(columns) - 1, classes, gaps, wanted, file)


def _stem(file: Path) -> str:
    return file.name.removesuffix(".gz").removesuffix(".csv")
