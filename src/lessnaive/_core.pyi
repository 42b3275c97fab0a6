"""Kernels of lessnaive: the loops over the rows of a table that must be fast."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def count(
    columns: Sequence[NDArray[Any]],
    shifts: Sequence[int],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
    tables: Sequence[NDArray[np.float64]],
) -> None: ...
def moments(
    columns: Sequence[NDArray[Any]],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
    out: NDArray[np.float64],
) -> None: ...
def merge_moments(into: NDArray[np.float64], other: NDArray[np.float64]) -> None: ...
def score(
    coded_columns: Sequence[NDArray[Any]],
    shifts: Sequence[int],
    tables: Sequence[NDArray[np.float64]],
    numeric_columns: Sequence[NDArray[Any]],
    parameters: Sequence[NDArray[np.float64]],
    intercept: NDArray[np.float64],
    output: int,
    out: NDArray[np.float64],
) -> int: ...
def max_threads() -> int: ...
def discretize(
    columns: Sequence[NDArray[Any]],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
    classes: int,
    modl: bool,
    use_missing: bool,
    exact_parts: int = ...,
) -> list[tuple[list[float], list[float], int, float, float, float]]: ...
def group(
    tables: Sequence[NDArray[np.float64]],
) -> list[tuple[list[int], list[float], float, float, float]]: ...
def digitize(column: NDArray[Any], edges: NDArray[np.float64], out: NDArray[np.uint32]) -> None: ...

STEP_LANES: int

def scan_steps(
    coded_columns: Sequence[NDArray[Any]],
    shifts: Sequence[int],
    tables: Sequence[NDArray[np.float64]],
    numeric_columns: Sequence[NDArray[Any]],
    parameters: Sequence[NDArray[np.float64]],
    levels: Sequence[int],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
    scores: NDArray[np.float64],
    log_loss: bool,
    tolerance: float,
    out: NDArray[np.float64],
) -> None: ...
