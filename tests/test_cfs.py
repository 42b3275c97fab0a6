"""CFSSelector: correlations and searches written plainly, and scikit-learn's tools."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import example_tables as tables
from lessnaive import CFSSelector, MDLPDiscretizer, NaiveBayes, TableError, _core
from selection_cases import Case, random_case

TIE = 1e-9


# No expected failures: parametrize_with_checks is given none.
@parametrize_with_checks(
    [
        CFSSelector(),
        CFSSelector(search="forward", missing="category", locally_predictive=True),
        CFSSelector(categorical_features="all", min_features=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def entropy(counts: Any) -> float:
    total = sum(counts)
    return -sum(n / total * math.log(n / total) for n in counts if n > 0)


def uncertainty(a: list, b: list, weights: list, missing: str) -> float:
    """Symmetrical uncertainty from a dictionary of counts; None is missing."""
    joint: Counter[Any] = Counter()
    for pair, weight in zip(zip(a, b, strict=True), weights, strict=True):
        joint[pair] += weight
    if missing == "spread":
        joint = spread(joint)
    first, second = Counter(), Counter()
    for (u, v), n in joint.items():
        first[u] += n
        second[v] += n
    if not sum(joint.values()):
        return 0.0
    h_a, h_b = entropy(first.values()), entropy(second.values())
    if min(h_a, h_b) < 1e-12:
        return 0.0
    return 2 * (h_a + h_b - entropy(joint.values())) / (h_a + h_b)


def spread(joint: Counter[Any]) -> Counter[Any]:
    """Share the counts of missing values out, one row of the table after the other."""
    us = sorted({u for u, _ in joint if u is not None}, key=str)
    vs = sorted({v for _, v in joint if v is not None}, key=str)
    total_u = {u: sum(n for (x, _), n in joint.items() if x == u) for u in us}
    total_v = {v: sum(n for (_, x), n in joint.items() if x == v) for v in vs}
    known_u, known_v = sum(total_u.values()), sum(total_v.values())
    complete = sum(n for (u, v), n in joint.items() if u is not None and v is not None)
    out: Counter[Any] = Counter()
    for u in us:
        for v in vs:
            n = joint[u, v]
            out[u, v] = n
            out[u, v] += total_u[u] / known_u * joint[None, v] if known_u else 0
            out[u, v] += total_v[v] / known_v * joint[u, None] if known_v else 0
            out[u, v] += n / complete * joint[None, None] if complete else 0
    return out


def plain_codes(case: Case) -> list[list]:
    """Values, or MDLP's bins of numbers; None where missing."""
    X, y, weights = case
    there = np.ones(len(y), bool) if weights is None else weights > 0
    out = []
    for name in X:
        values = [None if pd.isna(v) else v for v in X[name].tolist()]
        kept = [v for v in values if v is not None]
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in kept):
            numbers = X[[name]].astype(float)
            weight = None if weights is None else weights[there]
            bins = MDLPDiscretizer().fit(numbers[there], y[there], weight)
            values = [code or None for code in bins.transform(numbers)[:, 0].tolist()]
        out.append(values)
    return out


class PlainCFS:
    """Correlations of all pairs, and merits from their sums."""

    def __init__(self, case: Case, missing: str) -> None:
        codes = plain_codes(case)
        y = case.y.tolist()
        weights = [1.0] * len(y) if case.weights is None else case.weights.tolist()
        self.width = len(codes)
        self.relevance = [uncertainty(c, y, weights, missing) for c in codes]
        self.pairs = [[uncertainty(a, b, weights, missing) for b in codes] for a in codes]

    def merit(self, subset: Any) -> float:
        if not subset:
            return 0.0
        within = sum(1.0 if j == k else self.pairs[j][k] for j in subset for k in subset)
        return sum(self.relevance[j] for j in subset) / math.sqrt(within)

    def forward(self) -> set[int]:
        chosen: set[int] = set()
        while len(chosen) < self.width:
            merits = {j: self.merit(chosen | {j}) for j in range(self.width) if j not in chosen}
            best = max(merits.values())
            if best <= self.merit(chosen) + TIE:
                break
            chosen |= {min(j for j, merit in merits.items() if merit >= best - TIE)}
        return chosen

    def best_first(self, max_stale: int = 5) -> set[int]:
        """A list of (merit, subset), best first, with room for five."""
        waiting: list[tuple[float, frozenset[int]]] = [(0.0, frozenset())]
        best, best_merit, stale = frozenset(), 0.0, 0
        while waiting and stale < max_stale:
            _, subset = waiting.pop(0)
            stale += 1
            for j in range(self.width):
                if j in subset:
                    continue
                merit = self.merit(subset | {j})
                place = 0
                while place < len(waiting) and merit <= waiting[place][0] + TIE:
                    place += 1
                waiting = [*waiting[:place], (merit, subset | {j}), *waiting[place:]][:max_stale]
                if merit - best_merit > 1e-5:
                    best, best_merit, stale = subset | {j}, merit, 0
        return set(best)

    def local(self, chosen: set[int]) -> set[int]:
        for j in sorted(range(self.width), key=lambda j: (-round(self.relevance[j], 9), j)):
            if j not in chosen and self.relevance[j] > TIE:
                highest = max((self.pairs[j][k] for k in chosen), default=0.0)
                if highest < self.relevance[j] - TIE or not chosen:
                    chosen = chosen | {j}
        return chosen


@pytest.mark.parametrize("missing", ["spread", "category"])
@pytest.mark.parametrize("seed", range(50))
def test_equal_to_the_plain_searches(seed, missing):
    case = random_case(seed)
    plain = PlainCFS(case, missing)
    options = {"missing": missing, "min_features": 0}
    for search, chosen in (("forward", plain.forward()), ("best_first", plain.best_first())):
        one = CFSSelector(search=search, **options).fit(*case)
        np.testing.assert_allclose(one.relevance_, plain.relevance, rtol=1e-9, atol=1e-9)
        assert set(np.flatnonzero(one.support_)) == chosen
        assert one.merit_ == pytest.approx(plain.merit(chosen), rel=1e-9)
        more = CFSSelector(search=search, locally_predictive=True, **options).fit(*case)
        assert set(np.flatnonzero(more.support_)) == plain.local(chosen)


def test_best_first_finds_what_forward_misses():
    """Over many tables, never a lower merit, and a higher one sometimes."""
    gains = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 60)
        columns = {}
        for j in range(8):
            hint = np.where(rng.random(60) < 0.5, y, rng.integers(0, 2, 60))
            columns[f"c{j}"] = [
                f"{a}{b}" for a, b in zip(hint, rng.integers(0, 2, 60), strict=True)
            ]
        X = pd.DataFrame(columns)
        merits = [CFSSelector(search=s).fit(X, y).merit_ for s in ("forward", "best_first")]
        gains.append(merits[1] - merits[0])
    assert min(gains) > -1e-5
    assert max(gains) > 1e-4


def test_copies_and_noise_are_left_out():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = pd.DataFrame({"a": rng.normal(size=600) + 1.5 * y, "b": rng.normal(size=600) + 1.5 * y})
    for copy in range(5):
        X[f"a{copy}"] = X["a"] * (copy + 2)
    X["noise"] = rng.normal(size=600)
    X["constant"] = 1.0
    X["empty"] = np.nan
    selector = CFSSelector().fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["a", "b"]
    assert selector.relevance_[-3:].tolist() == [0.0, 0.0, 0.0]


def test_a_column_with_many_gaps_tells_little():
    """Three rows that know the class do not outweigh a column that mostly does."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    rare = np.where(np.arange(100) < 4, np.array(["no", "yes"])[y], None)
    often = np.where(rng.random(100) < 0.2, 1 - y, y).astype(str)
    X = pd.DataFrame({"rare": rare, "often": often})
    rare_relevance, often_relevance = CFSSelector().fit(X, y).relevance_
    assert rare_relevance < 0.1 < often_relevance


def test_at_least_so_many_columns():
    X = pd.DataFrame({"x": ["a"] * 8, "y": list("aabbaaba"), "z": list("aabbaabb")})
    y = [0, 0, 1, 1] * 2
    assert CFSSelector().fit(X, y).support_.tolist() == [False, False, True]
    assert CFSSelector(min_features=2).fit(X, y).support_.tolist() == [False, True, True]
    assert CFSSelector(min_features=9).fit(X, y).support_.all()
    none = CFSSelector(min_features=0).fit(X[["x"]], y)
    assert not none.support_.any()
    assert none.transform(X[["x"]]).shape == (8, 0)
    assert CFSSelector().fit(X[["x"]], y).support_.tolist() == [True]


@pytest.mark.parametrize("library", tables.LIBRARIES, ids=lambda make: make.__name__)
def test_every_library_gives_the_same_choice(library):
    rows, kinds, labels = tables.mixed_rows(150, seed=3)
    expected = CFSSelector().fit(tables.pandas_nullable(rows, kinds), labels)
    X = library(rows, kinds)
    selector = CFSSelector().fit(X, labels)
    np.testing.assert_array_equal(selector.support_, expected.support_)
    np.testing.assert_allclose(selector.relevance_, expected.relevance_, rtol=1e-12)
    out = selector.transform(X)
    assert out.shape == (150, expected.support_.sum())
    assert type(out) is (np.ndarray if isinstance(X, list) else type(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_found_by_name(frame):
    data = {"x": [1.0, 2.0, 3.0, 4.0] * 10, "y": list("abcd") * 10, "z": ["n", "n", "m", "m"] * 10}
    target = [0, 0, 1, 1] * 10
    selector = CFSSelector().fit(frame(data), target)
    turned = frame({name: data[name] for name in reversed(data)})
    one, other = selector.transform(frame(data)), selector.transform(turned)
    names = one.column_names if isinstance(one, pa.Table) else list(one.columns)
    assert names == selector.get_feature_names_out().tolist()
    assert one.equals(other)
    with pytest.raises(TableError, match="X has no column 'x'"):
        selector.transform(frame({"y": data["y"], "z": data["z"]}))


def test_in_a_pipeline_with_mixed_columns():
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    X = pd.DataFrame({"number": rng.normal(size=200) + y, "word": np.where(y, "a", "b")})
    X.loc[rng.random(200) < 0.3, "word"] = None
    X["noise"] = rng.choice(["p", "q"], 200)
    model = make_pipeline(CFSSelector(), NaiveBayes()).fit(X, y)
    assert model[1].feature_names_in_.tolist() == ["number", "word"]
    assert cross_val_score(model, X, y).mean() > 0.8


def test_weight_two_is_the_row_twice():
    X, y, _ = random_case(6)
    weights = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weights)
    one = CFSSelector().fit(X, y, weights)
    other = CFSSelector().fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_allclose(one.relevance_, other.relevance_, rtol=1e-12, atol=1e-12)


def test_only_after_fit():
    for use in (lambda s: s.transform([[1.0]]), lambda s: s.get_support()):
        with pytest.raises(NotFittedError):
            use(CFSSelector())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("values", [2, 3, 60, 200, 300, 5000])
def test_uncertainty_of_columns_with_many_values(values, weighted):
    """Tables that are counted several at once, one by one, and as sorted cells."""
    rng = np.random.default_rng(values)
    n = 20_001
    a = rng.integers(0, values, n)
    others = [np.where(rng.random(n) < share, a // 2, rng.integers(0, values, n))
              for share in (0.0, 0.3, 0.6, 0.9, 0.5, 0.1)]  # fmt: skip
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    codes = [x.astype(np.min_scalar_type(values - 1)) for x in (a, *others, a)]
    found = _core.symmetrical_uncertainty(codes[0], values, codes[1:], [values] * 7, weights, False)
    w = [1.0] * n if weights is None else weights.tolist()
    expected = [uncertainty(a.tolist(), b.tolist(), w, "category") for b in others]
    assert found == pytest.approx([*expected, 1.0], rel=1e-9)
