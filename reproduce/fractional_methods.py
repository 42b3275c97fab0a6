"""The methods of the study of weights in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from lessnaive import AveragedNB, FractionalNB, NaiveBayes
from reproduce.khiops_peer import KhiopsNB, khiops_is_installed

__all__ = ["GRID", "METHODS", "fractional"]

# The paper's grid, and one power between its values.
GRID = [*product((0.01, 0.1, 0.5), (0.5, 1.0, 2.0)), (0.1, 0.75)]
# What others start from, too: the same bins and groups, in which missing is a value.
_MODL: dict[str, Any] = {"numeric": "modl", "categorical": "modl", "missing": "category"}


def fractional(**parameters: Any) -> FractionalNB:
    """FractionalNB on the bins that the others have, too."""
    return FractionalNB(**_MODL, **parameters)


METHODS: dict[str, Callable[[], Any]] = {
    "NaiveBayes": partial(NaiveBayes, **_MODL),
    "AveragedNB": partial(AveragedNB, **_MODL),
    "FractionalNB": FractionalNB,  # as it comes: missing says nothing
    "lam=0": partial(fractional, lam=0.0),
    # Without a penalty by the paper's descent: figure 1.1.
    **{
        f"PGDMB L={name}": partial(fractional, lam=0.0, solver="pgdmb", batch_size=size)
        for name, size in (("100", 100), ("1000", 1000), ("N", 10**9))
    },
    **{f"lam={lam:g} p={p:g}": partial(fractional, lam=lam, p=p) for lam, p in sorted(GRID)},
}
if khiops_is_installed():
    METHODS["Khiops"] = KhiopsNB
