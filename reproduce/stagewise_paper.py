"""Tables 1 to 4 of "Forward stagewise naive Bayes" (Vidaurre, Bielza and Larrañaga, 2012).

The rows of Table 1 have lost their names in print. They are DI, CI, DR, CR (discrete or continuous
columns, irrelevant or redundant noise), the order in which its caption lists them.
"""

from __future__ import annotations

__all__ = ["ADJUSTED", "ERROR", "EVALUATIONS", "METHODS", "NOISY", "SELECTED", "STARPLUS"]

METHODS = ("NB", "SNB", "WNB", "aL1/L2-NB", "fsNB", "CFS+NB")
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
    METHODS,
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

#: Mean error in 10-fold cross-validation of six subjects, in the order of the methods (Table 3).
STARPLUS = {
    "04799": [0.47, 0.45, 0.47, 0.52, 0.41, 0.50],
    "05675": [0.44, 0.43, 0.44, 0.51, 0.50, 0.46],
    "04820": [0.44, 0.43, 0.44, 0.55, 0.37, 0.34],
    "05680": [0.45, 0.44, 0.45, 0.57, 0.35, 0.48],
    "04847": [0.36, 0.33, 0.36, 0.57, 0.35, 0.44],
    "05710": [0.40, 0.45, 0.40, 0.55, 0.36, 0.48],
}

#: Adjusted p-values (Table 4). One pair is printed twice as aL1/L2-NB and NB; one of them must be
#: aL1/L2-NB and WNB, and both are 2.424.
ADJUSTED = {
    ("fsNB", "NB"): 1.57e-6,
    ("fsNB", "WNB"): 3.35e-6,
    ("fsNB", "aL1/L2-NB"): 3.35e-6,
    ("fsNB", "SNB"): 9.86e-4,
    ("fsNB", "CFS+NB"): 0.030,
    ("CFS+NB", "NB"): 0.352,
    ("CFS+NB", "WNB"): 0.352,
    ("CFS+NB", "aL1/L2-NB"): 0.352,
    ("SNB", "NB"): 0.783,
    ("SNB", "WNB"): 0.783,
    ("SNB", "aL1/L2-NB"): 0.783,
    ("CFS+NB", "SNB"): 2.210,
    ("aL1/L2-NB", "NB"): 2.424,
    ("WNB", "NB"): 2.424,
    ("aL1/L2-NB", "WNB"): 2.424,
}
