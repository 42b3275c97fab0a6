"""The classifiers that model files and the command line know, by name."""

from __future__ import annotations

from typing import TypeVar

from lessnaive import models
from lessnaive.models.base import ScorecardClassifier

__all__ = ["register", "registered"]

Kind = TypeVar("Kind", bound=type[ScorecardClassifier])

_REGISTERED: dict[str, type[ScorecardClassifier]] = {}


def register(kind: Kind) -> Kind:
    """Make a classifier known: its models can be saved, loaded and learned on the command line.

    A class decorator. The classifiers of the package are those that ``models/__init__.py`` lists;
    a class that is registered later takes the place of one of the same name, unless that is a
    classifier of the package.

    Parameters
    ----------
    kind : class
        Derived from :class:`~lessnaive.models.base.ScorecardClassifier`. All its parameters have
        defaults.

    Returns
    -------
    class
        The same.
    """
    if not issubclass(kind, ScorecardClassifier):
        raise TypeError(f"{kind.__name__} is not derived from ScorecardClassifier.")
    if kind.__name__ in models.__all__ and kind is not getattr(models, kind.__name__):
        raise ValueError(f"There is a {kind.__name__} in lessnaive: take another name.")
    _REGISTERED[kind.__name__] = kind
    return kind


def registered() -> dict[str, type[ScorecardClassifier]]:
    """Return all classifiers that are known, by name, in the order of these."""
    own = {name: getattr(models, name) for name in models.__all__}
    return dict(sorted({**_REGISTERED, **own}.items()))
