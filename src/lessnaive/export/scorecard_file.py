"""The scorecard of a model file alone: all that most predictions need, read in no time."""

from __future__ import annotations

import os

from lessnaive import models
from lessnaive.exceptions import ModelFormatError
from lessnaive.export.json_text import parse_json
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard

__all__ = [
    "FORMAT",
    "KEYS",
    "VERSION",
    "check_version",
    "load_scorecard",
    "read_document",
    "read_scorecard",
]

#: What a model file says that it is.
FORMAT = "lessnaive-model"
#: The version of model files that is written, and the newest one that is read.
VERSION = 1
#: What a model file holds.
KEYS = ("format", "version", "written_by", "estimator", "parameters", "scorecard", "state")


def load_scorecard(path: str | os.PathLike[str]) -> Scorecard:
    """Read the scorecard of a model file, without the estimator that made it.

    It predicts what the model predicts, and takes far less time to load: scikit-learn is not
    imported.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Scorecard
        Its methods ``predict`` and ``probability`` are the model's ``predict`` and
        ``predict_proba``.

    Raises
    ------
    ModelFormatError
        If the file is not a model file, is damaged, or was made by a newer lessnaive.
    ValueError
        If the model is more than a scorecard: one that averages the probabilities of several, or
        one that is not of the package. :func:`load` reads these.

    See Also
    --------
    load : Read the whole model.

    Examples
    --------
    >>> import tempfile, pathlib, lessnaive
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.json"
    ...     lessnaive.save(lessnaive.NaiveBayes().fit(X, y), path)
    ...     scorecard = lessnaive.load_scorecard(path)
    >>> scorecard.predict([[3.9, "b"]])
    array([1])
    """
    scorecard = read_scorecard(path)
    if scorecard is None:
        raise ValueError(
            f"{os.fspath(path)}: this model is more than a scorecard: read it by lessnaive.load."
        )
    return scorecard


def read_scorecard(path: str | os.PathLike[str]) -> Scorecard | None:
    """Read the scorecard of a model file as :func:`load_scorecard`; None if there is more to it."""
    try:
        root = Node(parse_json(read_document(path)))
        check_version(root)
        fields = root.record(*KEYS)
        name = fields["estimator"].text()
        if name not in models.__all__ or _has_more(name, fields):
            return None
        return Scorecard.from_plain(name, fields["scorecard"])
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from None


def _has_more(name: str, fields: dict[str, Node]) -> bool:
    """Whether a model predicts with more than its scorecard."""
    if name == "StagewiseNB":
        average = fields["parameters"].entries().get("average")
        return average is not None and average.flag()
    if name == "AttributeWeightedNB":
        mixed = fields["state"].entries().get("mixed")
        return mixed is not None and not mixed.is_null()
    return False


def read_document(path: str | os.PathLike[str]) -> bytes:
    """Return what is in a model file."""
    with open(os.fspath(path), "rb") as file:
        head = file.read(64)
        if not head.lstrip(b" \t\r\n").startswith(b"{"):
            # Known before the rest is read, which may be large.
            raise ModelFormatError("this is not a model file, which is JSON and begins with '{'.")
        return head + file.read()


def check_version(root: Node) -> None:
    """Look at the version first: the rest of a newer file may be anything."""
    fields = root.entries()
    if "format" not in fields or "version" not in fields:
        raise root.error("this is not a model file of lessnaive: it has no format and version")
    fields["format"].choice([FORMAT])
    version = fields["version"].integer(1, 10**6)
    if version > VERSION:
        raise root.error(
            f"the file is of version {version}, made by a newer lessnaive, and this one reads "
            f"version {VERSION}: upgrade lessnaive"
        )
