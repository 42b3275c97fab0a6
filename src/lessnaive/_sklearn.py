"""The names of scikit-learn that begin with an underscore, each used here only.

Scikit-learn may change them without notice, so all that the package needs of them stands in one
file, which is tested against the oldest supported version and the newest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

__all__ = [
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "check_parameters",
    "checked_fit",
    "parameter_names",
    "take_rows",
]

_Fit = TypeVar("_Fit", bound=Callable[..., Any])


def checked_fit(fit: _Fit) -> _Fit:
    """Make a method ``fit`` check the parameters first, against ``_parameter_constraints``."""
    return cast(_Fit, _fit_context(prefer_skip_nested_validation=True)(fit))


def check_parameters(estimator: Any) -> None:
    """Raise InvalidParameterError unless all parameters of an estimator have permitted values."""
    estimator._validate_params()


def parameter_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a class of estimators."""
    return _parameter_names(kind)


@cache
def _parameter_names(kind: Any) -> tuple[str, ...]:
    return tuple(kind._get_param_names())
