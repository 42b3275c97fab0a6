"""Tables 6 to 8 of the NBRLR paper: wins, draws and losses on real tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from lessnaive import HybridLRNB, NaiveBayes, NBLogistic, NBLogisticCV, datasets
from lessnaive.arena.journal import ResultFile
from lessnaive.stats import pairwise, win_draw_loss
from lessnaive.validation.cross_validation import progress
from reproduce.findings import Finding, Report
from reproduce.target_nbrlr import PAPER
from reproduce.targets import Effort

__all__ = ["impute_by_class", "tables6_8"]

FOLDS = 5
CATEGORICAL = (
    *("balloons", "qualitative-bankruptcy", "blogger", "spect", "tic-tac-toe", "vote"),
    *("kr-vs-kp", "phishing", "monkeypox"),
)
OTHERS = (
    *("cryotherapy", "sonar", "hepatitis", "heart-statlog", "heart-failure", "haberman"),
    *("vertebral-2c", "bupa", "ilpd", "australian", "blood-transfusion", "pima", "hypothyroid"),
    *("gender", "occupancy", "bank-churn", "mammography", "htru2", "credit-default"),
)
_SIZES: dict[str, tuple[Sequence[str], int]] = {
    "full": ((*CATEGORICAL, *OTHERS), 20),
    "quick": (
        ("qualitative-bankruptcy", "blogger", "spect", "cryotherapy", "hepatitis", "bupa"),
        1,
    ),
    "smoke": (("penguins",), 1),
}
_NAIVE: dict[str, Any] = {"smoothing": "laplace", "priors": "laplace"}
METHODS: dict[str, Any] = {
    "NBRLR": lambda: NBLogisticCV(cv=FOLDS, **_NAIVE),
    "LR": lambda: NBLogistic(lam=0.0),
    "NB": lambda: NaiveBayes(numeric="gaussian_shared", **_NAIVE),
    "hybrid LR-NB": lambda: HybridLRNB(assignment="cv", cv=FOLDS, lam=0.0, **_NAIVE),
    "lasso": lambda: NBLogisticCV(cv=FOLDS, target="zero", **_NAIVE),
    "ridge": lambda: NBLogisticCV(cv=FOLDS, target="zero", penalty="l2", **_NAIVE),
    "elastic net": lambda: NBLogisticCV(cv=FOLDS, target="zero", penalty="elastic_net", **_NAIVE),
}
#: Printed wins / draws / losses of NBRLR with the p-value; by rival and measure.
PRINTED = {
    ("LR", "error"): "15/2/13 (0.715)",
    ("LR", "rspe"): "17/0/13 (0.472)",
    ("NB", "error"): "21/2/7 (<0.001)",
    ("NB", "rspe"): "26/0/4 (<0.001)",
    ("hybrid LR-NB", "error"): "3/2/5 (0.363)",
    ("hybrid LR-NB", "rspe"): "4/0/6 (0.813)",
    ("lasso", "error"): "15/3/12 (0.532)",
    ("lasso", "rspe"): "16/0/14 (0.943)",
    ("ridge", "error"): "18/3/9 (0.041)",
    ("ridge", "rspe"): "26/0/4 (<0.001)",
    ("elastic net", "error"): "15/2/13 (0.855)",
    ("elastic net", "rspe"): "23/0/7 (0.003)",
}


class Piece(NamedTuple):
    """One method on one fold of one split of a table, with gaps filled before or not at all."""

    table: str
    protocol: str
    seed: int
    fold: int
    method: str


@lru_cache(maxsize=4)
def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table of two classes; of the one that comes with the package, the first two."""
    X, y = datasets.load(name, backend="pandas")
    labels = np.asarray(y).astype(str)
    rows = np.isin(labels, np.unique(labels)[:2])
    return X[rows].reset_index(drop=True), labels[rows]


def impute_by_class(X: pd.DataFrame, y: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Draw missing values given the class, of all rows, as the paper did: labels leak."""
    out = X.copy()
    for name in X:
        for label in np.unique(y):
            gaps = X[name].isna().to_numpy() & (y == label)
            there = X[name][~X[name].isna().to_numpy() & (y == label)]
            if not gaps.any() or there.empty:
                continue
            if pd.api.types.is_numeric_dtype(X[name]):
                drawn = rng.normal(there.mean(), there.std(ddof=0), gaps.sum())
                out[name] = out[name].astype(float)
            else:
                drawn = rng.choice(there.to_numpy(), gaps.sum())
            out.loc[gaps, name] = drawn
    return out


def measure(piece: Piece) -> dict[str, Any]:
    """Learn from all folds but one, and judge by that one."""
    X, y = load(piece.table)
    if piece.protocol == "theirs":
        X = impute_by_class(X, y, np.random.default_rng(piece.seed))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=piece.seed)
    train, test = list(folds.split(X, y))[piece.fold]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separable tables, without a penalty: as published
        model = METHODS[piece.method]().fit(X.iloc[train], y[train])
        p = model.predict_proba(X.iloc[test])[:, 1]
    truth = y[test] == model.classes_[1]
    return {
        **piece._asdict(),
        "error": float(np.mean((p >= 0.5) != truth)),
        "rspe": float(np.sqrt(np.mean((p - truth) ** 2))),
    }


def tables6_8(effort: Effort) -> Report:
    """Count the tables on which NBRLR is better, as good, and worse."""
    tables, seeds = _SIZES[effort.size]
    results = ResultFile(effort.out / "nbrlr_tables.jsonl", Piece._fields)
    work = [
        Piece(table, protocol, seed, fold, method)
        for seed in range(seeds)
        for table in tables
        for protocol in ("theirs", "honest")
        if protocol == "honest" or load(table)[0].isna().to_numpy().any()
        for fold in range(FOLDS)
        for method in METHODS
        if method != "hybrid LR-NB" or table in CATEGORICAL
    ]
    todo = [piece for piece in work if piece not in results]
    with progress("tables x folds x methods", len(todo), bool(todo)) as step:
        run = Parallel(n_jobs=effort.jobs, return_as="generator_unordered")
        for row in run(delayed(measure)(piece) for piece in todo):
            results.add(row)
            step()
    frame = pd.DataFrame([row for row in results.rows if row["table"] in tables])
    means = frame.groupby(["protocol", "method", "table"])[["error", "rspe"]].mean()
    findings = []
    for (rival, name), printed in PRINTED.items():
        if ("honest", rival) not in means.index.droplevel("table"):
            continue
        honest = means.loc["honest"][name].unstack("method")[["NBRLR", rival]].dropna()
        theirs = honest.copy()
        if "theirs" in means.index.get_level_values(0):  # tables without gaps are the same
            own = means.loc["theirs"][name].unstack("method").reindex(columns=["NBRLR", rival])
            theirs.update(own)
        title = {"error": "0-1 loss", "rspe": "RSPE"}[name]
        what = f"NBRLR against {rival}, {title}: wins / draws / losses (p)"
        findings.append(Finding(what, printed, wins(theirs), wins(honest)))
    notes = [
        "Their protocol draws missing values given the class before the folds are made, so that "
        "test labels leak into test columns; honest: gaps stay gaps. p is that of Wilcoxon's "
        "signed ranks.",
        f"{len(tables)} tables, {seeds} x 5 folds (the paper: 30 and 20 x 5). Pulsar is HTRU2 once "
        "more, and how Chess2, with 18 classes, was made one of two is not told: both are left "
        "out.",
        "Results by table are in the paper's supplement, which is not at hand.",
    ]
    return Report("nbrlr-tables6-8", f"{PAPER}, Tables 6 to 8", findings, notes)


def wins(losses: pd.DataFrame) -> str:
    """Return wins / draws / losses of the first method, and the p-value of the difference."""
    counts = "/".join(map(str, win_draw_loss(losses, higher_is_better=False)[0, 1]))
    p = float(pairwise(losses, adjust=None, higher_is_better=False, zero_method="pratt")[0, 1])
    return f"{counts} ({'<0.001' if p < 0.001 else f'{p:.3f}'})"
