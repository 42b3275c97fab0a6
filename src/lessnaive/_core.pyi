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
    curves: Sequence[tuple[NDArray[Any], ...]] = ...,
    pairs: Sequence[tuple[Any, ...]] = ...,
) -> int: ...
def max_threads() -> int: ...
def text_codes(
    offsets: NDArray[Any],
    bytes: NDArray[np.uint8],
    valid: NDArray[np.uint8] | None,
    first: int,
    codes: NDArray[np.int32],
) -> list[str]: ...
def set_threads(count: int) -> int: ...
def trim() -> None: ...

class StopSign:
    def __init__(self) -> None: ...
    def put_up(self) -> None: ...
    def heed(self) -> None: ...
    def leave(self) -> None: ...

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
def find_records(
    text: bytes, separator: str, is_end: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], bool]: ...

class Evidence:
    def __init__(
        self,
        codes: Sequence[NDArray[Any]],
        shifts: Sequence[int],
        tables: Sequence[NDArray[np.float64]],
        own_tables: Sequence[NDArray[np.float64] | None],
        coded_places: Sequence[int],
        values: Sequence[NDArray[Any]],
        parameters: Sequence[NDArray[np.float64]],
        own_values: Sequence[NDArray[np.float64] | None],
        value_places: Sequence[int],
        intercept: NDArray[np.float64],
        own_intercept: NDArray[np.float64] | None,
        labels: NDArray[Any],
        weights: NDArray[np.float64] | None,
        sharpness: Sequence[NDArray[np.float64] | None] = ...,
        curves: Sequence[tuple[NDArray[Any], ...]] = ...,
        own_curves: Sequence[NDArray[np.float64] | None] = ...,
        curve_places: Sequence[int] = ...,
        sharp_shares: Sequence[NDArray[np.float64] | None] = ...,
        merged: bool = ...,
    ) -> None: ...
    def take(self, rows: NDArray[np.int64]) -> Evidence: ...
    def unpack(self, out: NDArray[np.float64]) -> None: ...
    def labels(self) -> list[int]: ...
    @property
    def rows(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def useful(self) -> list[int]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def total_weight(self) -> float: ...
    def loss(
        self,
        weights: NDArray[np.float64],
        squared: bool,
        gradient: NDArray[np.float64] | None,
    ) -> float: ...
    def mixed_loss(
        self,
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        share: float,
        squared: bool,
        by_first: NDArray[np.float64],
        by_second: NDArray[np.float64],
    ) -> tuple[float, float]: ...
    def probabilities(self, weights: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
    def curvature(
        self,
        weights: NDArray[np.float64],
        squared: bool,
        tied: bool,
        chosen: NDArray[np.int64],
        rows: int,
        seed: int,
        out: NDArray[np.float64],
        negligible: float = 0.0,
    ) -> None: ...
    def curvature_of_part(
        self,
        whole: int,
        starts: NDArray[np.int64],
        weights: NDArray[np.float64],
        squared: bool,
        tied: bool,
        chosen: NDArray[np.int64],
        rows: int,
        seed: int,
        out: NDArray[np.float64],
    ) -> float: ...
    def grams(self, out: NDArray[np.float64]) -> float: ...
    def gram_products(self, vector: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
    def squared_norms(self, summed: bool) -> float: ...
    def margins(self, direction: NDArray[np.float64]) -> tuple[float, float]: ...

def solve_power(
    hessian: NDArray[np.float64],
    gradient: NDArray[np.float64],
    cost: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    power: float,
    tolerance: float,
    most_rounds: int,
    x: NDArray[np.float64],
) -> tuple[int, float]: ...
def try_moves(
    hessian: NDArray[np.float64],
    gradient: NDArray[np.float64],
    cost: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    power: float,
    tolerance: float,
    most_rounds: int,
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def make_move(
    hessian: NDArray[np.float64],
    gradient: NDArray[np.float64],
    cost: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    power: float,
    tolerance: float,
    most_rounds: int,
    k: int,
    x: NDArray[np.float64],
) -> float: ...

class ScoreState:
    def __init__(self, evidence: Evidence, weights: NDArray[np.float64]) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def loss(self) -> float: ...
    def loss_if(self, column: int, delta: float) -> float: ...
    def apply(self, column: int, delta: float) -> None: ...
    def reset(self, weights: NDArray[np.float64]) -> None: ...

def solve_quadratic(
    hessian: NDArray[np.float64],
    gradient: NDArray[np.float64],
    target: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    l1: float,
    l2: float,
    tolerance: float,
    most_rounds: int,
    x: NDArray[np.float64],
    factor: NDArray[np.float64] | None = None,
) -> tuple[int, float]: ...

class LinearRows:
    def __init__(
        self,
        numbers: Sequence[NDArray[Any]],
        centers: NDArray[np.float64],
        codes: Sequence[NDArray[Any]],
        shifts: Sequence[int],
        counts: Sequence[int],
        labels: NDArray[Any],
        weights: NDArray[np.float64] | None,
        classes: int,
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def coefficients(self) -> int: ...
    @property
    def entries(self) -> int: ...
    @property
    def total_weight(self) -> float: ...
    @property
    def weight_range(self) -> tuple[float, float]: ...
    @property
    def nbytes(self) -> int: ...
    def loss(
        self, coefficients: NDArray[np.float64], gradient: NDArray[np.float64] | None
    ) -> float: ...
    def curvature(
        self,
        coefficients: NDArray[np.float64],
        enough: int,
        chosen: NDArray[np.int64],
        out: NDArray[np.float64],
        negligible: float = ...,
    ) -> None: ...
    def curvature_of_part(
        self,
        whole: int,
        first: int,
        coefficients: NDArray[np.float64],
        enough: int,
        chosen: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> float: ...
    def probabilities(
        self, coefficients: NDArray[np.float64], out: NDArray[np.float64]
    ) -> None: ...

class LinearCurvature:
    def __init__(
        self, rows: LinearRows, coefficients: NDArray[np.float64], cautious: bool = ...
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def multiply(self, vector: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
    def diagonal(
        self, squares: NDArray[np.float64], with_intercept: NDArray[np.float64]
    ) -> None: ...

class EvidenceCurvature:
    def __init__(self, evidence: Evidence, weights: NDArray[np.float64]) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def multiply(self, vector: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
    def blocks(self, out: NDArray[np.float64], tied: bool) -> None: ...

class EvidencePath:
    def __init__(self, evidence: Evidence, target: float, enough: int) -> None: ...
    @property
    def crowded(self) -> bool: ...
    def minimize(
        self,
        l1: float,
        l2: float,
        tolerance: float,
        max_passes: int,
        out: NDArray[np.float64],
        leader: EvidencePath | None = None,
        share: float = 1.0,
    ) -> tuple[int, bool]: ...

class LinearPath:
    def __init__(
        self,
        rows: LinearRows,
        starts: NDArray[np.int64],
        places: NDArray[np.int64],
        values: NDArray[np.float64],
        target: NDArray[np.float64],
        factor: NDArray[np.float64],
        start: NDArray[np.float64],
    ) -> None: ...
    @property
    def crowded(self) -> bool: ...
    def minimize(
        self,
        l1: float,
        l2: float,
        tolerance: float,
        max_passes: int,
        out: NDArray[np.float64],
        leader: LinearPath | None = None,
        share: float = 1.0,
    ) -> tuple[int, bool]: ...

def scan(
    lookups: Sequence[tuple[NDArray[Any], int, NDArray[np.float64]]],
    quadratics: Sequence[tuple[NDArray[Any], NDArray[np.float64]]],
    judged: Sequence[int],
    scores: NDArray[np.float64],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
    leave_one_out: bool,
    with_log_loss: bool,
    curves: Sequence[tuple[NDArray[Any], ...]] = ...,
) -> list[tuple[float, float]]: ...
def add_evidence(
    lookups: Sequence[tuple[NDArray[Any], int, NDArray[np.float64]]],
    quadratics: Sequence[tuple[NDArray[Any], NDArray[np.float64]]],
    scores: NDArray[np.float64],
    curves: Sequence[tuple[NDArray[Any], ...]] = ...,
) -> None: ...
def symmetrical_uncertainty(
    column: NDArray[Any],
    codes: int,
    others: Sequence[NDArray[Any]],
    other_codes: Sequence[int],
    weights: NDArray[np.float64] | None,
    spread_missing: bool,
) -> list[float]: ...

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

class AdditiveRows:
    def __init__(
        self,
        kinds: Sequence[int],
        sizes: Sequence[int],
        codes: Sequence[NDArray[Any]],
        values: Sequence[NDArray[np.float64]],
        labels: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        classes: int,
    ) -> None: ...
    @property
    def parameters(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def total_weight(self) -> float: ...
    def scores(self, parameters: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...

class AdditiveNewton:
    def __init__(
        self,
        rows: AdditiveRows,
        penalty: NDArray[np.float64],
        link: NDArray[np.float64],
        target: NDArray[np.float64],
        hold: NDArray[np.float64],
        runs: NDArray[np.int64] | None = None,
    ) -> None: ...
    def minimize(
        self, lam: float, tolerance: float, most_steps: int, parameters: NDArray[np.float64]
    ) -> tuple[int, int, bool, float, float]: ...
    def objective(
        self,
        lam: float,
        parameters: NDArray[np.float64],
        gradient: NDArray[np.float64] | None,
    ) -> float: ...

def pair_gains(
    codes: Sequence[NDArray[np.uint8]],
    sizes: Sequence[int],
    pairs: NDArray[np.int32],
    slopes: NDArray[np.float64],
    bends: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...

class PairBoosting:
    def __init__(
        self,
        columns: Sequence[NDArray[np.uint8]],
        n_codes: Sequence[int],
        ordered: Sequence[bool],
        pairs: Sequence[tuple[int, int]],
        labels: NDArray[Any],
        classes: int,
        weights: NDArray[np.float64],
        held_out: NDArray[np.float64] | None,
        leaves: int,
        l2: float,
        least_weight: float,
        rate: float,
        share: float,
        order: Sequence[int],
        seed: int,
    ) -> None: ...
    def advance(self, rounds: int) -> None: ...
    def scores(self, out: NDArray[np.float64]) -> None: ...
    def table(
        self, first: int, second: int | None, rounds: int, out: NDArray[np.float64]
    ) -> None: ...
    @property
    def outputs(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def start(self) -> list[float]: ...

class QuantileSummary:
    def __init__(self, classes: int, size: int) -> None: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: tuple[Any, ...]) -> None: ...
    def merge(self, other: QuantileSummary) -> None: ...
    def decay(self, factor: float) -> None: ...
    def spread_classes(self, places: Sequence[int], classes: int) -> None: ...
    def points(self) -> tuple[list[float], list[float], list[float]]: ...
    def count(self, edges: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
    @property
    def classes(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def missing(self) -> list[float]: ...
    @property
    def error(self) -> list[float]: ...
    def bytes(self) -> int: ...

def summarize(
    summaries: Sequence[QuantileSummary],
    columns: Sequence[NDArray[Any]],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> None: ...
def discretize_summaries(
    summaries: Sequence[QuantileSummary], modl: bool, use_missing: bool
) -> list[tuple[list[float], list[float], int, float, float, float]]: ...
def keep_values(
    codes: NDArray[Any],
    shift: int,
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
    slot_of: Sequence[int],
    used: int,
    counts: NDArray[np.float64],
    bound: NDArray[np.float64],
    rest: NDArray[np.float64],
    missing: NDArray[np.float64],
) -> tuple[int, list[int]]: ...
