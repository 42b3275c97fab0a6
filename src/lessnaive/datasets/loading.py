"""Tables by name: from a folder of CSV files, or from OpenML."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from lessnaive.datasets.catalogue import OPENML, find, home_of, no_folder
from lessnaive.datasets.csv_file import read_csv, split_target
from lessnaive.exceptions import TableError
from lessnaive.table.making import Backend

__all__ = ["load"]


def load(
    name: str, data_home: str | os.PathLike[str] | None = None, backend: Backend | None = None
) -> tuple[Any, Any]:
    r"""Get a table by its name: from a folder of CSV files, from the package, or from OpenML.

    The folder may hold a ``manifest.json``: a list of objects with the name of a table, its
    ``file``, its ``target``, and which columns are ``categorical``. A table that is not in the list
    is ``<name>.csv`` or ``<name>.csv.gz``, with the target in the last column. Empty cells are
    missing values. ``load("penguins")`` needs no folder.

    What comes from OpenML is kept in scikit-learn's folder of data, and may differ from a table of
    the same name in a folder: in its rows, in the names of its columns.

    Parameters
    ----------
    name : str
        Name of the table, such as "spambase"; :func:`available` lists those at hand.
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
        If the table is neither in the folder nor to be had from OpenML, or if there is no such
        folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from lessnaive import datasets
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "fruit.csv").write_text("weight,fruit\n151,apple\n,pear\n")
    ...     X, y = datasets.load("fruit", data_home=folder)
    >>> list(y)
    ['apple', 'pear']
    """
    home = home_of(data_home)
    found = find(name, home)
    if found is None:
        return split_target(*_from_openml(name, home), backend)
    file, known = found
    columns = read_csv(file, missing=known.get("missing", ("",)), text=known.get("categorical", ()))
    target = known.get("target", list(columns)[-1])
    if target not in columns:
        raise TableError(f"{file} has no column {target!r}, the target of {name!r}.")
    return split_target(columns, target, backend)


def _from_openml(name: str, home: Path | None) -> tuple[dict[str, list[Any]], str]:
    from sklearn.datasets import fetch_openml

    if home is not None and not home.is_dir():
        raise FileNotFoundError(no_folder(home))
    number, their_name = OPENML.get(name, (None, name))
    which = {"name": name} if number is None else {"data_id": number}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred")  # we say it
            bunch = fetch_openml(**which, as_frame=True, parser="auto", n_retries=1)
    except (OSError, ValueError, ImportError) as error:
        where = "LESSNAIVE_DATA_HOME is not set" if home is None else f"it is not in {home}"
        raise FileNotFoundError(
            f"There is no table {name!r} at hand: {where}, and OpenML did not give it ({error}). "
            "Put it into a folder as a CSV file, and set LESSNAIVE_DATA_HOME to that folder."
        ) from error
    found = str(bunch.details.get("name", their_name))
    if found.lower() != their_name.lower():
        raise TableError(f"Table {number} of OpenML is {found!r}, not {their_name!r}.")
    # As plain lists, so that every backend gets the same: text and numbers, None where missing.
    frame = bunch.frame.astype(object).where(bunch.frame.notna(), None)
    return frame.to_dict("list"), bunch.target_names[0]
