"""Freeze maximum-likelihood fits of statsmodels, for tests/test_nb_logistic.py to compare.

Run it where statsmodels is installed::

    python tests/oracles/make_statsmodels_fits.py

The tables are made by ``likelihood_tables`` in tests/statsmodels_cases.py. The result goes to
``statsmodels_fits.json`` beside this file: for each table the intercept and the coefficients of
each class but the first, against the first, and the log-likelihood.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import statsmodels
from statsmodels.discrete.discrete_model import Logit, MNLogit

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from statsmodels_cases import likelihood_tables  # noqa: E402


def fit_of(X: Any, y: Any) -> dict[str, Any]:
    """Fit by Newton's method, whose last step is far better than its tolerance."""
    model = Logit if len(np.unique(y)) == 2 else MNLogit
    design = np.column_stack([np.ones(len(X)), X])
    fit = model(y, design).fit(method="newton", tol=1e-9, maxiter=200, disp=False)
    coefficients = np.asarray(fit.params).reshape(design.shape[1], -1).T
    return {"coefficients": coefficients.tolist(), "log_likelihood": float(fit.llf)}


def main() -> None:
    """Write the fits of all tables."""
    fits = {name: fit_of(X, y) for name, (X, y) in likelihood_tables().items()}
    out = {"version": statsmodels.__version__, "fits": fits}
    text = json.dumps(out, indent=1)
    (HERE / "statsmodels_fits.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
