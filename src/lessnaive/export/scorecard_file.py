"""The scorecard of a model file alone: all that most predictions need, read in no time."""

from __future__ import annotations

import os

from lessnaive import models
from lessnaive.exceptions import ModelFormatError
from lessnaive.export.json_text import parse_json
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard

__all__ = ["FORMAT", "KEYS", "VERSION", "check_version", "read_document", "read_scorecard"]

#: What a model file says that it is.
FORMAT = "lessnaive-model"
#: The version of model files that is written, and the newest one that is read.
VERSION = 1
#: What a model file holds.
KEYS = ("format", "version", "written_by", "estimator", "parameters", "scorecard", "state")

# Models that may predict with more than their scorecard.
_WITH_MORE = ("AttributeWeightedNB", "StagewiseNB")


def read_scorecard(path: str | os.PathLike[str]) -> Scorecard | None:
    """Read the scorecard of a model file, without the estimator that made it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Scorecard or None
        None if the model may predict with more than a scorecard, or is not of the package.
    """
    try:
        root = Node(parse_json(read_document(path)))
        check_version(root)
        fields = root.record(*KEYS)
        name = fields["estimator"].text()
        if name in _WITH_MORE or name not in models.__all__:
            return None
        return Scorecard.from_plain(name, fields["scorecard"])
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from None


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
