"""Tables 1 to 4 of "A naive Bayes regularized logistic regression model for classification".

Tan, Sherwood and Shenoy (2023), read in a transcription in which some cells of Table 1 are damaged;
these are empty in ``nbrlr_paper.csv``. The hybrid has no coefficients.
"""

from __future__ import annotations

import csv
from pathlib import Path

__all__ = ["BIAS", "ERROR", "MSE", "RSPE", "VARIANCE"]

#: Setting, training rows, columns, correlation, method.
Key = tuple[int, int, int, float, str]


def _table(name: str) -> dict[Key, float]:
    """Values of the cells of one of the tables in the file."""
    out: dict[Key, float] = {}
    with Path(__file__).with_suffix(".csv").open(newline="") as file:
        for row in csv.DictReader(file):
            table, setting, n_train, n_columns, correlation, *_ = row.values()
            cell = (int(setting), int(n_train), int(n_columns), float(correlation))
            values = {method: value for method, value in list(row.items())[5:] if value}
            if table == name:
                out |= {(*cell, method): float(value) for method, value in values.items()}
    return out


#: Mean squared error of the coefficients.
MSE = _table("mse")
#: 0-1 loss on test rows.
ERROR = _table("error")
#: Root squared prediction error on test rows, the root of the Brier score.
RSPE = _table("rspe")
#: Squared bias of the coefficients (Table 3).
BIAS = _table("bias")
#: Variance of the coefficients (Table 4).
VARIANCE = _table("variance")
