"""Short texts that tell one piece of work from another, in every process the same."""

from __future__ import annotations

import hashlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import sklearn

from lessnaive._version import __version__
from lessnaive.arena.labelled import LabelledTable
from lessnaive.validation.cross_validation import Rows

__all__ = ["comparison_fingerprint", "model_fingerprint"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def model_fingerprint(model: Any) -> str:
    """Return a short text that tells a model with its parameters from others.

    Parameters
    ----------
    model : classifier
        One of this package or any other; if its class is edited, it is another model.

    Returns
    -------
    str
    """
    return _short(_told(model))


def comparison_fingerprint(rows: LabelledTable, splits: list[tuple[Rows, Rows]]) -> str:
    """Return a short text that tells a comparison from others: rows, splits, and the packages.

    Parameters
    ----------
    rows : LabelledTable
        All rows.
    splits : list of (array, array)
        The rows to learn from and the rows to judge.

    Returns
    -------
    str
    """
    versions = f"{__version__} {_package_state()} {sklearn.__version__} {np.__version__}"
    digest = hashlib.sha256(f"{versions} {rows.fingerprint()}".encode())
    for split in splits:
        for part in split:
            digest.update(part.astype(np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _told(value: Any) -> str:
    """Return a parameter as a text, and what is in it."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_told(k)}: {_told(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_told, value)) + "]"
    if isinstance(value, type) or inspect.isroutine(value):
        return f"{value.__module__}.{value.__qualname__} {_source(value)}"
    if hasattr(value, "get_params"):
        return f"{_told(type(value))}({_told(value.get_params(deep=False))})"
    try:
        return str(joblib.hash(value))  # arrays, data frames, random states
    except Exception:  # what cannot be pickled can be anything
        return f"{_told(type(value))} {_ADDRESS.sub('', repr(value))}"


def _source(code: Any) -> str:
    """Return what a class or function does, if it is known, as a short text."""
    try:
        return _short(inspect.getsource(code))
    except (OSError, TypeError):
        return ""


@cache
def _package_state() -> str:
    """Return what changes when another version is installed, or one that was edited."""
    folder = Path(__file__).parents[1]
    files = sorted(f for pattern in ("*.py", "*.so", "*.pyd") for f in folder.rglob(pattern))
    return " ".join(f"{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in files)
