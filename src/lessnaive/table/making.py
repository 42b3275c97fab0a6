"""Data frames made by lessnaive, in whatever library the user has."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, get_args

__all__ = ["Backend", "make_frame"]

Backend = Literal["pandas", "polars", "pyarrow"]
_BACKENDS: tuple[Backend, ...] = get_args(Backend)


def make_frame(columns: dict[str, list[Any]], backend: Backend | None = None) -> Any:
    """Make a data frame with the given library, or with the first one installed.

    Parameters
    ----------
    columns : dict of str to list
        The columns.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library.

    Returns
    -------
    data frame
    """
    import narwhals as nw

    if backend is not None and backend not in _BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(_BACKENDS)}, got {backend!r}.")
    chosen = backend or next((name for name in _BACKENDS if find_spec(name) is not None), None)
    if chosen is None:
        raise ImportError(
            "A data frame needs pandas, polars or pyarrow: install one, for example with "
            "pip install pandas."
        )
    return nw.from_dict(columns, backend=chosen).to_native()
