"""Credit scorecards beside optbinning and scorecardpy: area under the curve, bins, points, time.

    python -m benchmarks.points_peers german.csv class good

Each makes bins, a model of two classes, and whole points (20 double the odds, 600 at 50 to 1) from
four fifths of the rows, and scores the other fifth, five times over. The peers hold pandas and
scikit-learn back, so each method runs where it can be imported: start the program once for each
environment. Times are those of the processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

Result = tuple[np.ndarray, np.ndarray, int]


def _with_points(model: Any, test: pd.DataFrame) -> Result:
    points = model.scorecard_.points(good=True)
    n_bins = sum(len(own) for own in points.points) - 2 * len(points.points)
    return model.predict_proba(test)[:, 1], points.score(test), n_bins


def with_naive_bayes(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Result:
    import lessnaive as ln

    return _with_points(ln.NaiveBayes().fit(train, y), test)


def with_logistic(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Result:
    import lessnaive as ln

    return _with_points(ln.NBLogisticCV(numeric="modl").fit(train, y), test)


def with_encoder(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Result:
    import lessnaive as ln

    model = ln.fit_binned(ln.AttributeWeightedNB(), ln.MODLEncoder(), train, y)
    return _with_points(model, test)


def with_optbinning(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Result:
    from optbinning import BinningProcess, Scorecard

    names = train.select_dtypes(exclude="number").columns.tolist()
    process = BinningProcess(train.columns.tolist(), categorical_variables=names)
    card = Scorecard(
        process,
        LogisticRegression(max_iter=1000),
        scaling_method="pdo_odds",
        scaling_method_params={"pdo": 20, "odds": 50, "scorecard_points": 600},
        reverse_scorecard=True,
        rounding=True,
    ).fit(train, y.astype(int))
    table = card.table(style="summary")
    n_bins = int((~table["Bin"].astype(str).isin(["Special", "Missing"])).sum())
    return card.predict_proba(test)[:, 1], card.score(test), n_bins


def with_scorecardpy(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Result:
    import scorecardpy as sc

    frame = train.assign(bad=(~y).astype(int))
    bins = sc.woebin(frame, y="bad", print_info=False)
    woe = sc.woebin_ply(train, bins, print_info=False)
    model = LogisticRegression(max_iter=1000).fit(woe, frame["bad"])
    card = sc.scorecard(bins, model, woe.columns, points0=600, odds0=1 / 50, pdo=20)
    points = sc.scorecard_ply(test, card, print_step=0)["score"].to_numpy()
    chances = model.predict_proba(sc.woebin_ply(test, bins, print_info=False))[:, 0]
    return chances, points, sum(len(own) for own in bins.values())


METHODS: dict[str, Callable[..., Result]] = {
    "NaiveBayes": with_naive_bayes,
    'NBLogisticCV(numeric="modl")': with_logistic,
    "AttributeWeightedNB on MODLEncoder": with_encoder,
    "optbinning": with_optbinning,
    "scorecardpy": with_scorecardpy,
}


def measured(method: Callable[..., Result], X: pd.DataFrame, y: np.ndarray) -> Iterator[Any]:
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    for train, test in folds:
        begin = time.process_time()
        chances, points, n_bins = method(X.iloc[train], y[train], X.iloc[test])
        spent = time.process_time() - begin
        yield roc_auc_score(y[test], chances), roc_auc_score(y[test], points), n_bins, spent


def main(path: str, target: str, good: str) -> None:
    frame = pd.read_csv(path)
    y = (frame.pop(target).astype(str) == good).to_numpy()
    for name, method in METHODS.items():
        try:
            auc, whole, n_bins, spent = np.mean(list(measured(method, frame, y)), axis=0)
        except ImportError as error:
            print(f"{name}: {error}")
            continue
        print(
            f"{name}: AUC {auc:.4f}, of whole points {whole:.4f}, {n_bins:.0f} bins, {spent:.2f} s"
        )


if __name__ == "__main__":
    main(*sys.argv[1:4])
