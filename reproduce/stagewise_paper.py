"""Tables 1 and 2 of "Forward stagewise naive Bayes" (Vidaurre, Bielza and Larrañaga, 2012).

The rows of Table 1 have lost their names in print. They are DI, CI, DR, CR (discrete or continuous
columns, irrelevant or redundant noise), the order in which its caption lists them.
"""

from __future__ import annotations

__all__ = ["ERROR", "EVALUATIONS", "NOISY", "SELECTED"]

_METHODS = ("NB", "SNB", "WNB", "aL1/L2-NB", "fsNB", "CFS+NB")
_SELECTING = ("SNB", "aL1/L2-NB", "fsNB", "CFS+NB")


def _table(methods: tuple[str, ...], rows: dict[str, str]) -> dict[tuple[str, str], float]:
    """Values by (data, method)."""
    return {
        (data, method): float(value)
        for data, values in rows.items()
        for method, value in zip(methods, values.split(), strict=True)
    }


#: Mean error on test rows (Table 1) or in 10-fold cross-validation (Table 2).
ERROR = _table(
    _METHODS,
    {
        "DI": "0.076 0.080 0.075 0.079 0.077 0.166",
        "CI": "0.082 0.083 0.082 0.083 0.083 0.087",
        "DR": "0.152 0.076 0.131 0.171 0.070 0.082",
        "CR": "0.132 0.097 0.132 0.158 0.090 0.083",
        "1/4": "0.28 0.23 0.28 0.25 0.21 0.26",
        "1/2": "0.28 0.27 0.28 0.27 0.26 0.27",
        "3/4": "0.20 0.18 0.20 0.19 0.16 0.18",
    },
)

#: Mean number of columns in the model.
SELECTED = _table(
    _SELECTING,
    {
        "DI": "6.2 6.5 6.3 10.8",
        "CI": "6.0 6.0 5.3 10.0",
        "DR": "5.7 10.2 5.6 10.4",
        "CR": "5.5 11.8 6.6 10.8",
        "1/4": "1.7 4.4 2.2 3.0",
        "1/2": "3.3 8.3 4.4 4.2",
        "3/4": "3.3 8.4 2.4 4.9",
    },
)

#: Mean number of columns of pure noise in the model (Table 1 only).
NOISY = _table(
    _SELECTING,
    {
        "DI": "0.6 0.2 0.3 0.8",
        "CI": "0.8 0.1 0.1 0.4",
        "DR": "0.4 5.1 0.2 0.6",
        "CR": "0.8 5.9 1.1 1.0",
    },
)

#: Mean number of models that were evaluated, over the tables of 7.1.
EVALUATIONS = {"fsNB": 6732.25}
