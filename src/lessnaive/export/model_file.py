"""Model files: fitted models as documented, versioned JSON."""

from __future__ import annotations

import os
from itertools import chain
from typing import Any

from sklearn.utils.validation import check_is_fitted

from lessnaive._version import __version__
from lessnaive.exceptions import ModelFormatError
from lessnaive.export.estimator_parameters import make_estimator, parameters_to_plain
from lessnaive.export.json_text import json_lines, parse_json
from lessnaive.export.scorecard_file import FORMAT, KEYS, VERSION, check_version, read_document
from lessnaive.export.writing import whole_file
from lessnaive.models.base import ScorecardClassifier
from lessnaive.models.registry import registered
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard

__all__ = ["from_document", "load", "save", "to_document"]


def save(model: ScorecardClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    The file is JSON, in a form that is documented and stays readable for later versions. The same
    model always gives the same bytes. The file appears as a whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted estimator of lessnaive.
    path : str or path
        The file; one that exists is replaced.

    See Also
    --------
    load : Read the model back.

    Examples
    --------
    >>> import tempfile, pathlib, lessnaive
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> model = lessnaive.NaiveBayes().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.json"
    ...     lessnaive.save(model, path)
    ...     again = lessnaive.load(path)
    >>> again.predict([[3.9, "b"]])
    array([1])
    """
    name = type(model).__name__
    if registered().get(name) is not type(model):
        raise TypeError(_not_ours(model, name))
    check_is_fitted(model)
    document = to_document(model)
    try:
        from_document(Node(document))
    except ModelFormatError as error:
        raise ValueError(f"This {name} cannot be saved: {error}") from None
    with whole_file(path) as file:
        file.writelines(piece.encode() for piece in chain(json_lines(document), "\n"))


def _not_ours(model: Any, name: str) -> str:
    """Say why a model cannot be saved, and what can be done instead."""
    problem = f"Only classifiers of lessnaive can be saved, and {name} is none of them"
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list) or not steps:
        return f"{problem}."
    last = type(steps[-1][1])
    if registered().get(last.__name__) is not last:
        return f"{problem}: joblib.dump keeps all of it."
    others = ", ".join(type(step).__name__ for _, step in steps[:-1])
    return (
        f"{problem}: save its last step alone, lessnaive.save(pipeline[-1], path), and apply "
        f"{others or 'the other steps'} before predicting, or keep all of it with joblib.dump."
    )


def load(path: str | os.PathLike[str]) -> ScorecardClassifier:
    """Read a model that was written by :func:`save`.

    Nothing in the file is executed, so that files of strangers are safe to read.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        Fitted, with the parameters of the model that was saved; its predictions are the same to
        the last bit, and ``partial_fit`` continues where the model left off.

    Raises
    ------
    ModelFormatError
        If the file is not a model file, is damaged, or was made by a newer lessnaive.
    OSError
        If the file cannot be opened.

    See Also
    --------
    save : Write a model.
    """
    try:
        return from_document(Node(parse_json(read_document(path))))
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from None


def to_document(model: ScorecardClassifier) -> dict[str, Any]:
    """Return a fitted model as the plain data that a model file holds."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"lessnaive {__version__}",
        "estimator": type(model).__name__,
        "parameters": parameters_to_plain(model),
        "scorecard": model.scorecard_.to_plain(),
        "state": model._state_to_plain(),
    }


def from_document(root: Node) -> ScorecardClassifier:
    """Return the model that plain data describes; ModelFormatError if it describes none."""
    check_version(root)
    fields = root.record(*KEYS)
    fields["written_by"].text()
    name = fields["estimator"].choice(registered())
    model = make_estimator(registered()[name], fields["parameters"])
    model._restore(Scorecard.from_plain(name, fields["scorecard"]), fields["state"])
    return model
