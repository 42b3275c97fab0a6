"""Scoring 1,000,000 rows of 20 columns: in the database, in Python, and what there is besides.

    python -m benchmarks.sql_scoring [ROWS]

A table with ten columns of numbers and ten of words, some of them missing, is scored from one
Parquet file by

- the query of a model, run by DuckDB;
- ``predict_proba`` of the same model, with the file read by pyarrow;
- the same model as an ONNX graph, run by onnxruntime;
- gradient boosting of scikit-learn (100 trees of depth 3) as an ONNX graph made by skl2onnx, for
  which words are made numbers by an OrdinalEncoder and missing numbers are -9, as it takes neither;
- a decision tree of depth 8 on the same numbers as nested CASEs, run by DuckDB, whose columns of
  words are numbers already.

Times are those of the processor, with one thread each; each includes reading the file and making
all probabilities. Needs duckdb, onnxruntime, skl2onnx and pandas.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import skl2onnx
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import lessnaive as ln
from lessnaive.deploy import onnx_inputs

N_NUMBERS = N_WORDS = 10
N_TRAINING = 20_000


def make_table(n_rows: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n_rows)
    numbers = rng.normal(size=(n_rows, N_NUMBERS)) + y[:, None] * np.linspace(0, 0.6, N_NUMBERS)
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    words = (
        rng.integers(0, 8, size=(n_rows, N_WORDS))
        + (rng.random(n_rows) < 0.2)[:, None] * y[:, None]
    ) % 8
    table = {f"x{j}": numbers[:, j] for j in range(N_NUMBERS)}
    names = np.array([f"word {k}" for k in range(8)], dtype=object)
    for j in range(N_WORDS):
        column = names[words[:, j]]
        column[rng.random(n_rows) < 0.05] = None
        table[f"c{j}"] = column
    return pd.DataFrame(table), y


def seconds(work: Callable[[], Any]) -> float:
    best = np.inf
    for _ in range(3):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return float(best)


def in_database(path: Path, query: str) -> Callable[[], Any]:
    def work() -> None:
        connection = duckdb.connect()
        connection.execute("SET threads = 1")
        connection.execute(f"CREATE VIEW \"data\" AS SELECT * FROM read_parquet('{path}')")
        connection.execute(f"CREATE TABLE scored AS {query}")

    return work


def session(graph: Any) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(graph.SerializeToString(), options)


def tree_query(tree: DecisionTreeClassifier, names: list[str]) -> str:
    nodes = tree.tree_

    def case(node: int) -> str:
        left, right = nodes.children_left[node], nodes.children_right[node]
        if left < 0:
            return repr(float(nodes.value[node][0, 1] / nodes.value[node][0].sum()))
        name, cut = names[nodes.feature[node]], repr(float(nodes.threshold[node]))
        return f'CASE WHEN "{name}" <= {cut} THEN {case(left)} ELSE {case(right)} END'

    return f'SELECT {case(0)} AS probability FROM "data"'


def main(n_rows: int) -> None:
    X, y = make_table(N_TRAINING, seed=1)
    table, _ = make_table(n_rows)
    coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(
        X.iloc[:, N_NUMBERS:]
    )

    def coded(rows: pd.DataFrame) -> np.ndarray:
        words = coder.transform(rows.iloc[:, N_NUMBERS:])
        numbers = rows.iloc[:, :N_NUMBERS].to_numpy()
        return np.nan_to_num(np.hstack([numbers, words]), nan=-9.0).astype(np.float32)

    with tempfile.TemporaryDirectory() as folder:
        path, numbers_path = Path(folder) / "rows.parquet", Path(folder) / "numbers.parquet"
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
        names = list(table.columns)
        pq.write_table(pa.table(dict(zip(names, coded(table).T, strict=True))), numbers_path)
        print(f"{n_rows:,} rows x {len(names)} columns, seconds of one core")
        for model in (ln.NaiveBayes(), ln.LessNaiveClassifier()):
            model.fit(X, y)
            name = type(model).__name__
            query = ln.to_sql(model, "data", "duckdb")
            print(f"{name}, SQL in DuckDB: {seconds(in_database(path, query)):.2f}", flush=True)
            spent = seconds(lambda own=model: own.predict_proba(pq.read_table(path)))
            print(f"{name}, predict_proba from Parquet: {spent:.2f}", flush=True)
            graph = session(ln.to_onnx(model))
            spent = seconds(
                lambda own=model, g=graph: g.run(None, onnx_inputs(own, pq.read_table(path)))
            )
            print(f"{name}, ONNX: {spent:.2f}", flush=True)
        boosting = GradientBoostingClassifier(random_state=0).fit(coded(X), y)
        graph = session(skl2onnx.to_onnx(boosting, coded(X[:1]), options={"zipmap": False}))
        spent = seconds(lambda: graph.run(None, {"X": coded(pq.read_table(path).to_pandas())}))
        print(f"gradient boosting, ONNX: {spent:.2f}", flush=True)
        tree = DecisionTreeClassifier(max_depth=8, random_state=0).fit(coded(X), y)
        query = tree_query(tree, names)
        print(f"decision tree, SQL in DuckDB: {seconds(in_database(numbers_path, query)):.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
