"""Tables by name: from a folder of CSV files, or from OpenML."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from lessnaive.datasets.csv_file import read_csv, split_target
from lessnaive.exceptions import TableError
from lessnaive.table.making import Backend

__all__ = ["fetch"]


def fetch(
    name: str, data_home: str | os.PathLike[str] | None = None, backend: Backend | None = None
) -> tuple[Any, Any]:
    r"""Get a table by its name, from a folder of CSV files or else from OpenML.

    The folder may hold a ``manifest.json``: a list of objects with the name of a table, its
    ``file``, its ``target``, and which columns are ``numeric`` and ``categorical``. A table that is
    not in the list is ``<name>.csv`` or ``<name>.csv.gz``, with the target in the last column.
    Empty cells are missing values.

    Parameters
    ----------
    name : str
        Name of the table, such as "spambase".
    data_home : path-like, optional
        The folder; by default the one that the environment variable LESSNAIVE_DATA_HOME names.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the data frame; the first of these that is installed by default.

    Returns
    -------
    X : data frame
        All columns but the target.
    y : series
        The target.

    Raises
    ------
    FileNotFoundError
        If the table is neither in the folder nor to be had from OpenML.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from lessnaive.datasets import fetch
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "fruit.csv").write_text("weight,fruit\n151,apple\n,pear\n")
    ...     X, y = fetch("fruit", data_home=folder)
    >>> list(y)
    ['apple', 'pear']
    """
    given = data_home or os.environ.get("LESSNAIVE_DATA_HOME")
    home = None if given is None else Path(given).expanduser()
    entry = None if home is None else _find(name, home)
    if entry is not None:
        columns = read_csv(entry["file"], text=entry.get("categorical", ()))
        target = entry.get("target", list(columns)[-1])
        if target not in columns:
            raise TableError(f"{entry['file']} has no column {target!r}, the target of {name!r}.")
        return split_target(columns, target, backend)
    return split_target(*_from_openml(name, home), backend)


def _find(name: str, home: Path) -> dict[str, Any] | None:
    """Look for a table in the folder: what the manifest says of it, its file as a path."""
    manifest = home / "manifest.json"
    entries = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else []
    for entry in entries:
        if entry["name"] == name:
            return {**entry, "file": home / entry["file"]}
    for file in (home / f"{name}.csv", home / f"{name}.csv.gz"):
        if file.exists():
            return {"file": file}
    return None


def _from_openml(name: str, home: Path | None) -> tuple[dict[str, list[Any]], str]:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(name, as_frame=True, parser="auto", n_retries=1)
    except (OSError, ValueError, ImportError) as error:
        where = "LESSNAIVE_DATA_HOME is not set" if home is None else f"it is not in {home}"
        raise FileNotFoundError(
            f"There is no table {name!r} at hand: {where}, and OpenML did not give it ({error})."
        ) from error
    # As plain lists, so that every backend gets the same: text and numbers, None where missing.
    frame = bunch.frame.astype(object).where(bunch.frame.notna(), None)
    return frame.to_dict("list"), bunch.target_names[0]
