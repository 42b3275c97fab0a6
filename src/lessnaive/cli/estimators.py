"""Estimators by name, with parameters given as text."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from lessnaive.cli.errors import InputError

__all__ = ["DEFAULT_MODEL", "STREAM_LEARNERS", "estimators", "make_estimator", "parse_value"]

#: The classifier that is learned where none is named: that of the best probabilities.
DEFAULT_MODEL = "LessNaiveClassifier"
#: Names of the classifiers that can learn from streams, the one that is taken first.
STREAM_LEARNERS = ("NaiveBayes", "FractionalNB")


def estimators() -> dict[str, Any]:
    """All classifiers that are registered, by name.

    Returns
    -------
    dict of str to class

    Examples
    --------
    >>> from lessnaive.cli.estimators import estimators
    >>> "NaiveBayes" in estimators()
    True
    """
    from lessnaive.models.registry import registered  # which knows all classes

    return dict(registered())


def make_estimator(name: str, settings: Sequence[str], categorical: Sequence[str] = ()) -> Any:
    """Make an estimator from its name and its parameters as the user typed them.

    Parameters
    ----------
    name : str
        Name of the estimator.
    settings : sequence of str
        Parameters as "key=value".
    categorical : sequence of str, default=()
        Columns that are categorical though they hold numbers.

    Returns
    -------
    estimator
        Not yet fitted.
    """
    kind = estimators()[name]
    known = sorted(kind().get_params(deep=False))
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting!r} is not of the form key=value.")
        if key not in known:
            raise InputError(
                f"--set: {name} has no parameter {key!r}; it has {', '.join(known)}"
                f"{_another_that_has(key)}."
            )
        parameters[key] = parse_value(text)
    if categorical:
        if "categorical_features" in parameters:
            raise InputError("give either --categorical or --set categorical_features, not both.")
        if "categorical_features" not in known:
            raise InputError(f"{name} takes no --categorical columns.")
        parameters["categorical_features"] = list(categorical)
    return kind(**parameters)


def _another_that_has(parameter: str) -> str:
    """Say that NaiveBayes, which most parameters are known from, has a parameter, if it has."""
    there = parameter in estimators()["NaiveBayes"]().get_params(deep=False)
    return "; --model NaiveBayes has one" if there else ""


def parse_value(text: str) -> Any:
    """Read a value: JSON, a Python literal, or else the text itself.

    Parameters
    ----------
    text : str
        What the user typed.

    Returns
    -------
    object

    Examples
    --------
    >>> from lessnaive.cli.estimators import parse_value
    >>> [parse_value(text) for text in ("1.0", "true", "null", "[1, 2]", "(2, 2)", "laplace")]
    [1.0, True, None, [1, 2], (2, 2), 'laplace']
    """
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    if text[:1] in ("[", "(", "{", '"', "'"):
        raise InputError(f"--set: cannot read the value {text!r}; put the texts in it in quotes.")
    return text
