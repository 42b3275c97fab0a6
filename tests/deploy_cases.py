"""A table that is hard to carry elsewhere, and all models learned from it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import lessnaive as ln
from lessnaive import models

#: Attempts to leave a name, a comment or a literal of any target.
ATTACKS = [
    "x'; DROP TABLE t; --",
    'y"; DROP TABLE t; --',
    "*/ DROP TABLE t; /*",
    "</script><script>throw 1</script>",
    "'''\nraise SystemExit(9)\n'''",
    "`${process.exit(9)}`",
    '=HYPERLINK("http://a.example")',
    "+1",
    "@SUM(1)",
    "\\'; throw 1; //",
    "{0} %s {{x}}",
    "]; DROP TABLE t; --",
    "new\nline -- \r\nend",
    "emoji \U0001f389\u200d\U0001f332",
    "ünï 木 \u2028",
    " padded ",
]
CLASSES = ["no", ATTACKS[0], "\U0001f389 'yes' \"\n"]
NUMBER, COUNT, FLAG = ATTACKS[0], ATTACKS[2], ATTACKS[3]
TEXT, WORDS, CODE, DATE = ATTACKS[4], ATTACKS[13], ATTACKS[6], ATTACKS[1]
LETTERS = ["a", "A", "a'b", 'a"b', "a\nb", ""]


def hostile_table(n_rows: int, seed: int = 0, *, unseen: bool = False) -> pd.DataFrame:
    """Every kind of column, each with gaps and a name that attacks; perhaps with unseen values."""
    rng = np.random.default_rng(seed)
    words = ATTACKS + ["another'; DROP TABLE t; --", "b "] * unseen
    letters = LETTERS + ["B", "a ", "é"] * unseen
    codes = [1, 2, 3.5, -40] + [7, 0.25] * unseen
    start = np.datetime64("2001-02-28T12:00:00")
    table = pd.DataFrame(
        {
            # Numbers of few digits are on edges at times, and are the same in single precision.
            NUMBER: rng.normal(50, 20, n_rows).round().clip(-100, 200) / 4,
            COUNT: rng.poisson(3, n_rows).astype(float),
            FLAG: rng.choice(np.array([True, False], dtype=object), n_rows),
            TEXT: rng.choice(np.array(letters, dtype=object), n_rows),
            WORDS: rng.choice(np.array(words, dtype=object), n_rows),
            CODE: rng.choice(codes, n_rows),
            DATE: start + rng.integers(0, 8000, n_rows) * np.timedelta64(86_400_000 // 4, "ms"),
        }
    )
    return table.mask(rng.random(table.shape) < 0.1)


def labels(X: pd.DataFrame, n_classes: int, seed: int = 1) -> np.ndarray:
    """Classes that depend on all columns, and on two of them together."""
    rng = np.random.default_rng(seed)
    number, count = X[NUMBER].fillna(12.0) / 5, X[COUNT].fillna(3.0)
    score = (number - 2.5) * np.where(X[FLAG].isin([True]), 1.0, -1.0) + 0.3 * count
    score += X[TEXT].isin(["a", "a'b"]) - 1.0 * X[WORDS].isin(ATTACKS[:5])
    score += 0.8 * (X[CODE] == 2) + (X[DATE] > pd.Timestamp("2004-06-01"))
    noisy = score + rng.logistic(size=len(X))
    ranks = noisy.rank(method="first") / (len(X) + 1)
    return np.array(CLASSES[:n_classes], dtype=object)[(ranks * n_classes).astype(int)]


#: What is not the default, so that each kind of term and of missing values is there.
VARIANTS: dict[str, Any] = {
    "gaussian": lambda: ln.NaiveBayes(numeric="gaussian", missing="category"),
    "kernel": lambda: ln.NaiveBayes(numeric="kernel", categorical="modl"),
    "uniform": lambda: ln.NaiveBayes(numeric="quantile", priors="uniform"),
    "bins": lambda: ln.NBLogistic(numeric="both", missing="category"),
    "mixed": lambda: ln.AttributeWeightedNB(weights="mixed", missing="category"),
    "special": lambda: ln.AttributeWeightedNB(missing="category"),
    "average": lambda: ln.StagewiseNB(average=True, epsilon=0.5),
}
FAMILY = [*models.__all__, *VARIANTS]


@cache
def fitted(name: str) -> Any:
    """Return a model of the family, fitted; half of them know two classes, the others three."""
    X = hostile_table(400)
    model = VARIANTS[name]() if name in VARIANTS else getattr(models, name)()
    model.set_params(categorical_features=[CODE])
    y = labels(X, 2 + FAMILY.index(name) % 2)
    if name == "special":
        encoder = ln.MODLEncoder(
            categorical_features=[CODE],
            special_values={NUMBER: [12.5, 10.0], CODE: [-40], WORDS: ATTACKS[:2]},
            cuts={COUNT: [1, 3.5]},
        )
        return ln.fit_binned(model, encoder, X, y)
    return model.fit(X, y)


@cache
def edges_beside_decimals() -> tuple[Any, pd.DataFrame]:
    """Return a model with edges that are a little less than decimals, and rows with these."""
    edges = [(0.66 + 0.7) / 2, (1.0 + 1.14) / 2]
    assert edges[0] < 0.68
    assert edges[1] < 1.07
    X = pd.DataFrame({"x": [0.66, 0.7, 1.0, 1.14, -0.4] * 8})
    encoder = ln.MODLEncoder(cuts={"x": [-0.1 - 0.2, *edges]})
    model = ln.fit_binned(ln.NaiveBayes(), encoder, X, [0, 1, 0, 1, 1] * 8)
    return model, pd.DataFrame({"x": [0.68, 1.07, -0.3, 0.67, 1.06, *edges]})


@cache
def rows_to_predict() -> pd.DataFrame:
    """1,000 rows with missing and unseen values."""
    return hostile_table(1000, seed=2, unseen=True)


def as_dicts(X: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain dictionaries: None is missing, dates are text in ISO 8601."""
    rows: list[dict[str, Any]] = X.astype(object).where(X.notna(), None).to_dict("records")
    for row in rows:
        row[DATE] = None if row[DATE] is None else row[DATE].isoformat()
    return rows
