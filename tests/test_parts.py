"""Models that are learned from batches are those that are learned from the whole table."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from lessnaive import (
    AveragedNB,
    BaristaNB,
    FractionalNB,
    NaiveBayes,
    NBLogistic,
    TableError,
    fit_batches,
)
from lessnaive.loss.weighted import training_evidence
from lessnaive.parts.batches import local_training
from lessnaive.parts.engine import LocalHeld, Parcel
from lessnaive.parts.storage import Room, Store, parse_memory
from lessnaive.parts.summing import SomeRows
from lessnaive.table.parts import FAN_IN, BinSettings, merged
from lessnaive.table.reading import read_table
from lessnaive.table.schema import Schema
from lessnaive.table.training import Training, read_training
from parted_tables import DEFAULTS, VARIANTS, batches, cuts_of, mixed_table

X, Y = mixed_table()


def gap(one, other, table=X):
    return np.abs(one.predict_proba(table) - other.predict_proba(table)).max()


@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
@pytest.mark.parametrize("name", [*(n for n in DEFAULTS if "Less" not in n), *VARIANTS])
def test_batches_give_the_model_of_the_whole(name, n_parts):
    model = {**DEFAULTS, **VARIANTS}[name]
    whole = clone(model).fit(X, Y)
    parted = fit_batches(clone(model), batches(X, Y, n_parts))
    assert gap(parted, whole) < 1e-9
    assert parted.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(
        parted.feature_importances_, whole.feature_importances_, rtol=0, atol=1e-9
    )
    for ours, theirs in zip(parted.scorecard_.terms, whole.scorecard_.terms, strict=True):
        assert ours.name == theirs.name
        if name == "left out":  # the weights are not whole, and have no exact sums
            np.testing.assert_allclose(ours.counts, theirs.counts, rtol=1e-12)
        else:
            np.testing.assert_array_equal(ours.counts, theirs.counts)


def test_parts_of_large_tables_look_at_the_same_samples():
    """So many rows that solvers begin with some of them and estimate the curvature from some."""
    table, y = mixed_table(300_000, seed=1)
    for model in (
        *(DEFAULTS[n] for n in ("AttributeWeightedNB", "BaristaNB", "FractionalNB", "NBLogistic")),
        *(VARIANTS[n] for n in ("squared loss", "bins")),
        FractionalNB(solver="pgdmb"),
    ):
        whole = clone(model).fit(table, y)
        parted = fit_batches(clone(model), batches(table, y, 7))
        assert gap(parted, whole, table) < 1e-11, model


def test_rows_of_a_part_are_in_the_order_of_the_whole():
    scorecard = NaiveBayes(numeric="gaussian").fit(X, Y).scorecard_
    settings = NaiveBayes(numeric="gaussian")
    weights = np.random.default_rng(1).integers(0, 3, len(Y)).astype(float)
    training = read_training(X, Y, weights, "from_dtype")
    whole = training_evidence(scorecard, training)
    with local_training(settings, batches(X, Y, 7, weights), 10**9, BinSettings()) as parts:
        parted = training_evidence(scorecard, parts)
        for places in (np.arange(whole.rows), np.arange(3, whole.rows, 17), np.array([700])):
            one, other = whole.take(places), parted.take(places)
            assert other.labels() == one.labels()
            assert other.total_weight == one.total_weight
            cells = [np.empty((one.rows, one.classes, one.columns)) for _ in range(2)]
            one.unpack(cells[0])
            other.unpack(cells[1])
            np.testing.assert_array_equal(cells[1], cells[0])


@pytest.mark.parametrize("solver", ["auto", "newton_cg"])
def test_rows_of_linear_models_are_held_as_there_is_room(solver, monkeypatch):
    """What exceeds half of the memory is made again in each pass."""
    model = NBLogistic(solver=solver, penalty="l2", lam=0.01)
    whole = clone(model).fit(X, Y)
    assert gap(fit_batches(clone(model), batches(X, Y, 7)), whole) < 1e-9
    asked, take = [], Room.take

    def noted(room, size):
        asked.append((size, take(room, size)))
        return asked[-1][1]

    monkeypatch.setattr(Room, "take", noted)
    parted = fit_batches(clone(model), batches(X, Y, 7), memory="100kB")
    assert gap(parted, whole) < 1e-9
    large = [size for size, _ in asked if size > 30_000]
    assert {there for _, there in asked} == {True, False}
    assert sum(size for size in large) > 100_000


def test_additive_models_come_together():
    table, y = X[:500], Y[:500]
    whole = clone(DEFAULTS["LessNaiveClassifier"]).fit(table, y)
    for n_parts in (1, 7):
        parted = fit_batches(clone(DEFAULTS["LessNaiveClassifier"]), batches(table, y, n_parts))
        assert gap(parted, whole) < 1e-9
    with pytest.raises(TableError, match=r"LessNaiveClassifier needs all columns in memory.*allow"):
        fit_batches(clone(DEFAULTS["LessNaiveClassifier"]), batches(table, y, 7), memory="10KB")


@pytest.mark.parametrize("name", [n for n in DEFAULTS if "Less" not in n])
def test_what_does_not_fit_into_memory_is_in_files(name, tmp_path):
    whole = clone(DEFAULTS[name]).fit(X, Y)
    seen = []
    parted = fit_batches(
        clone(DEFAULTS[name]),
        batches(X, Y, 7),
        memory="60kB",
        folder=tmp_path,
        progress=lambda what, done, total: seen.append(len(list(tmp_path.glob("*/*")))),
    )
    assert gap(parted, whole) < 1e-9
    assert max(seen) > 1
    assert list(tmp_path.iterdir()) == []


SUMS = {
    "gaussian": NaiveBayes(numeric="gaussian"),
    "shared": NaiveBayes(numeric="gaussian_shared", missing="category"),
    "names": NaiveBayes(),
    "poisson": NaiveBayes(numeric="poisson"),
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_rows_need_no_files(name, weighted, tmp_path):
    """Even if classes, values and kinds of columns are new in later parts."""
    order = np.argsort(Y, kind="stable")
    table = X.iloc[order].drop(columns=["size"] if name == "poisson" else [])
    table["late"] = np.where(np.arange(len(Y)) < 900, None, table["count"].astype(object))
    if name == "names":
        table = table[["colour", "old", "late"]].assign(late=table["late"].astype("string"))
    elif name == "poisson":
        table = table[["count", "colour", "old"]]
    else:
        table = table.assign(late=table["late"].astype("float64"))
    y, weights = Y[order], np.arange(len(Y)) % 3.0 if weighted else None
    whole = clone(SUMS[name]).fit(table, y, weights)
    seen = []
    for n_parts in (2, 7, 64):
        parted = fit_batches(
            clone(SUMS[name]),
            batches(table, y, n_parts, weights),
            memory="4kB",
            folder=tmp_path,
            progress=lambda *_: seen.append(len(list(tmp_path.iterdir()))),
        )
        assert gap(parted, whole, table) < 1e-12
        assert parted.classes_.tolist() == whole.classes_.tolist()
        for ours, theirs in zip(parted.scorecard_.terms, whole.scorecard_.terms, strict=True):
            np.testing.assert_array_equal(ours.counts, theirs.counts)
        np.testing.assert_allclose(
            parted.feature_importances_, whole.feature_importances_, atol=0.05
        )
    assert max(seen) == 0


@pytest.mark.parametrize("n_kept", [0, 10_000])
def test_rows_are_summed_up_long_before_memory_is_full(n_kept, monkeypatch):
    monkeypatch.setattr("lessnaive.parts.batches._MOST_KEPT", n_kept)
    seen = []
    keep = Store.keep
    monkeypatch.setattr(Store, "keep", lambda store, own: seen.append(1) or keep(store, own))
    parted = fit_batches(NaiveBayes(numeric="gaussian"), batches(X, Y, 7))
    assert gap(parted, NaiveBayes(numeric="gaussian").fit(X, Y)) < 1e-12
    assert len(seen) == (0 if n_kept == 0 else 1)


def test_batches_are_read_again_if_sums_are_not_enough(tmp_path):
    """A column of numbers turns out to hold names too, or to need bins."""
    table = pd.DataFrame({"a": [*range(50), *"uvuvuvuvuv"], "b": list("xyz") * 20}, dtype=object)
    y = np.arange(60) % 2
    calls = []

    def parts():
        calls.append(1)
        for first in range(0, 60, 10):
            own = table[first : first + 10]
            yield own.astype({"a": "int64"}) if first < 50 else own, y[first : first + 10]

    whole = NaiveBayes(numeric="gaussian").fit(table, y)
    parted = fit_batches(NaiveBayes(numeric="gaussian"), parts, memory="100B", folder=tmp_path)
    assert gap(parted, whole, table) == 0
    assert len(calls) == 2
    assert list(tmp_path.iterdir()) == []
    once = parts()
    with pytest.raises(TableError, match=r"'a' holds numbers in part 1 of .* and names in part 6 "):
        fit_batches(NaiveBayes(numeric="gaussian"), lambda: once, memory="100B")
    late = pd.DataFrame({"a": [None] * 50 + [1.5, 2.5] * 5, "b": list("xyz") * 20})
    parted = fit_batches(NaiveBayes(), batches(late, y, 7), memory="100B")
    assert gap(parted, NaiveBayes().fit(late, y), late) == 0


def test_labels_of_another_type_are_an_error_while_sums_are_kept():
    def parts():
        yield from batches(X[["colour"]], Y, 7)()
        yield X[["colour"]], np.arange(len(Y)) % 2

    with pytest.raises(ValueError, match="y mixes strings and numbers"):
        fit_batches(NaiveBayes(), parts, memory="1kB")


@pytest.mark.parametrize("n_rows", [1, 19, 20, 21, 39, 40, 41, 1000])
def test_some_rows_are_at_even_distances(n_rows):
    cells = np.arange(n_rows, dtype=float)[:, None]
    some = SomeRows(10)
    for first in range(0, n_rows, 7):
        part = cells[first : first + 7]
        labels = np.zeros(len(part), dtype=np.uint8)
        some.add(
            Training(
                read_table(part),
                Schema.of(read_table(part), "from_dtype"),
                np.arange(2),
                labels,
                None,
            )
        )
    kept = np.concatenate([part.table.columns[0].numbers() for part in some.parts])
    step = 1 if n_rows <= 20 else int(kept[1])
    assert np.array_equal(kept, np.arange(0, n_rows, step))
    assert min(n_rows, 10) <= len(kept) <= 20


def test_files_are_gone_after_an_error(tmp_path):
    def broken():
        yield from batches(X, Y, 7)()
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        fit_batches(NaiveBayes(), broken, memory="20kB", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_weights_count_in_batches():
    weights = np.random.default_rng(1).integers(0, 4, len(Y)).astype(float)
    for model in (NaiveBayes(), BaristaNB(leave_one_out=True), BaristaNB(class_weight="balanced")):
        whole = clone(model).fit(X, Y, sample_weight=weights)
        assert gap(fit_batches(clone(model), batches(X, Y, 7, weights)), whole) < 1e-9
        repeated = np.repeat(np.arange(len(Y)), weights.astype(int))
        again = fit_batches(clone(model), batches(X.iloc[repeated], Y[repeated], 7))
        assert gap(again, whole) < 1e-9


def test_a_part_may_have_no_weight_and_few_classes():
    weights = np.ones(len(Y))
    first, last = cuts_of(len(Y), 7)[0]
    weights[first:last] = 0.0
    order = np.argsort(Y, kind="stable")
    whole = NaiveBayes().fit(X.iloc[order], Y[order], sample_weight=weights)
    parted = fit_batches(NaiveBayes(), batches(X.iloc[order], Y[order], 7, weights))
    assert gap(parted, whole) == 0


def test_parts_of_any_library_and_order_of_columns():
    whole = NaiveBayes().fit(X, Y)
    third = len(Y) // 3
    columns = list(X)[::-1]

    def parts():
        yield X[:third], Y[:third]
        yield pl.from_pandas(X[third : 2 * third])[columns], Y[third : 2 * third].tolist()
        yield pa.Table.from_pandas(X[2 * third :]), pa.array(Y[2 * third :])

    assert gap(fit_batches(NaiveBayes(), parts), whole) == 0


def test_a_column_may_be_empty_or_of_whole_numbers_in_a_part():
    table = pd.DataFrame({"a": [1.0, 2, 3, 4, None, None, 1, 2.5], "b": list("uvuv") + [None] * 4})
    y = [0, 1, 0, 1, 0, 1, 0, 1]
    whole = NaiveBayes(numeric="gaussian").fit(table, y)

    def parts():
        yield table[:4].astype({"a": "int64"}), y[:4]
        yield table[4:6].astype({"a": object, "b": object}), y[4:6]
        yield table[6:].astype({"b": "float64"}), y[6:]

    assert gap(fit_batches(NaiveBayes(numeric="gaussian"), parts), whole, table) < 1e-15


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
@pytest.mark.parametrize("memory", ["1GB", "100B"])
def test_the_type_of_a_column_without_values_says_nothing_if_others_have_some(dtype, memory):
    """Dask takes a column of gaps for text."""
    table, y = X[["age", "size"]].copy(), Y
    table.loc[1500:, "age"] = None
    whole = NaiveBayes(numeric="gaussian").fit(table, y)

    def parts():
        gaps = table[1500:].assign(age=pd.Series(None, index=table.index[1500:], dtype=dtype))
        yield gaps, y[1500:]
        yield table[:700], y[:700]
        yield table[700:1500], y[700:1500]

    parted = fit_batches(NaiveBayes(numeric="gaussian"), parts, memory=memory)
    assert parted.scorecard_.schema.categorical == whole.scorecard_.schema.categorical
    assert gap(parted, whole, table) < 1e-12


@pytest.mark.parametrize("method", ["mdlp", "modl", "quantile"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_summaries_find_bins_within_their_bound(method, missing):
    table, y = mixed_table(20_000, seed=3)
    table, size = table[["size", "age"]], 500
    whole = NaiveBayes(numeric=method, missing=missing).fit(table, y)
    model = NaiveBayes(numeric=method, missing=missing)
    parted = fit_batches(model, batches(table, y, 7), bins="summary", summary_size=size)
    bound = 3 / size * np.log2(len(y) / size) * len(y)
    for ours, theirs in zip(parted.scorecard_.terms, whole.scorecard_.terms, strict=True):
        values = np.sort(table[ours.name].dropna())
        ranks = [np.searchsorted(values, term.encoding.edges) for term in (ours, theirs)]
        assert np.array_equal(ours.counts.sum(axis=0), theirs.counts.sum(axis=0))
        inside = np.diff(np.searchsorted(values, [-np.inf, *ours.encoding.edges, np.inf]))
        assert np.array_equal(ours.counts[1:-1].sum(axis=1), inside)
        if method == "quantile":
            assert np.abs(ranks[0] - ranks[1]).max() <= bound
    exact = fit_batches(model, batches(table, y, 7), bins="summary", summary_size=50_000)
    assert gap(exact, whole, table) == 0


def test_exact_bins_that_do_not_fit_into_memory_are_found_from_summaries():
    table, y = mixed_table(40_000, seed=3)
    table = table[["size", "count"]]
    with pytest.warns(UserWarning, match=r"Bins of 'size' are found from summaries of the parts"):
        rough = fit_batches(NaiveBayes(), batches(table, y, 7), memory="1MB")
    asked = fit_batches(NaiveBayes(), batches(table, y, 7), bins="summary")
    assert gap(rough, asked, table) == 0


def test_values_are_merged_in_a_tree_of_their_number():
    def tree(values):
        while len(values) > 1:
            groups = [values[i : i + FAN_IN] for i in range(0, len(values), FAN_IN)]
            values = [merged(lambda a, b: f"({a} {b})", group) for group in groups]
        return values[0]

    for n in (1, 2, 7, 8, 9, 63, 64, 65, 130):
        held = LocalHeld(list(map(str, range(n))), Room(0))
        assert held.total(str, lambda a, b: f"({a} {b})") == tree(list(map(str, range(n))))


def test_what_is_made_is_held_as_there_is_room():
    made = []

    def make(part):
        made.append(part)
        return np.zeros(part, dtype=np.uint8)

    room = Room(100)
    held = LocalHeld([60, 60, 30], room).hold(make)
    assert held.each(len) == held.each(len) == [60, 60, 30]
    assert made == [60, 60, 30, 60]
    assert room.left == 10
    del held
    assert room.left == 100


def test_stored_arrays_come_back(tmp_path):
    arrays = [np.arange(5, dtype=np.uint8), np.linspace(0, 1, 7), np.empty(0, dtype=np.int16)]
    with Store(Room(0), tmp_path) as store:
        for stored, array in zip(store.keep(arrays), arrays, strict=True):
            found = stored.read()
            assert found.dtype == array.dtype
            assert np.array_equal(found, array)
        del found
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["much", "-2GB", "", "2XB", "inf GB", 0, "GB", "nan"])
def test_sizes_of_memory_that_are_none(text):
    with pytest.raises(ValueError, match="memory must be a size such as '2GB'"):
        parse_memory(text)


def change(column, values):
    other = X.copy()
    other[column] = values
    return other


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        ([], TableError, "none of the 0 parts of the table has rows"),
        ([(X[:0], Y[:0])], TableError, "none of the 1 parts of the table has rows"),
        ([X], TypeError, r"Batch 1 is DataFrame, but must be a tuple \(X, y\)"),
        ([(X, ["a"] * len(X))], TableError, "one class only"),
        ([(X, Y), (X.drop(columns="age"), Y)], TableError, "part 2 of .*: there is no 'age'"),
        ([(X, Y), (X.assign(more=1), Y)], TableError, "part 2 of .*: there is 'more' besides"),
        ([(X, Y), (X.to_numpy(), Y)], TableError, "only one of them has names of columns"),
        (
            [(X[["age"]].to_numpy(), Y), (X[["age", "size"]].to_numpy(), Y)],
            TableError,
            "it has 2 of them, and not 1",
        ),
        (
            [(X, Y, None, "the shop"), (change("age", True), Y, None, "the store")],
            TableError,
            "Column 'age' holds numbers in the shop and booleans in the store: convert",
        ),
        ([(X, Y, None, "the shop"), (X, Y[:-1])], ValueError, "In part 2 of the table: .* incons"),
        ([(X, Y[:-1], None, "the shop")], ValueError, "In the shop: .* inconsistent numbers"),
        ([(pl.from_pandas(X).lazy(), Y)], TypeError, "In part 1 .* is a lazy frame: read it into"),
        ([(csr_matrix(np.eye(2)), [0, 1])], TypeError, "In part 1 .* a dense table is required"),
        (
            [(X, Y), (change("age", True), Y)],
            TableError,
            "Column 'age' holds numbers in part 1 of the table and booleans in part 2",
        ),
        ([(X, Y), (X, Y[:-1])], ValueError, "In part 2 of the table: .* inconsistent numbers"),
        ([(X, Y), (X, [None, *Y[1:]])], TableError, "In part 2 .*target is missing in 1 row"),
        ([(X, Y), (X, np.arange(len(Y)))], ValueError, "y mixes strings and numbers"),
        ([(X, Y, -np.ones(len(Y)))], ValueError, "In part 1 of the table: Negative values"),
        ([(X, Y, np.zeros(len(Y)))], ValueError, "all rows have weight 0"),
        ([(X, Y), (change("age", np.inf), Y)], TableError, "Column 'age' holds an infinite value"),
    ],
)
def test_parts_that_do_not_go_together(parts, error, text):
    model = NaiveBayes()
    with pytest.raises(error, match=text):
        fit_batches(model, lambda: iter(parts))
    assert not hasattr(model, "scorecard_")


def test_what_fit_batches_refuses():
    with pytest.raises(TypeError, match="AveragedNB does not learn from a table in parts, but"):
        fit_batches(AveragedNB(), batches(X, Y, 2))
    with pytest.raises(ValueError, match="bins must be 'exact' or 'summary'"):
        fit_batches(NaiveBayes(), batches(X, Y, 2), bins="rough")
    with pytest.raises(ValueError, match="summary_size must be a whole number above 1"):
        fit_batches(NaiveBayes(), batches(X, Y, 2), summary_size=1)
    with pytest.raises(ValueError, match="summary_size must be a whole number above 1, got nan"):
        fit_batches(NaiveBayes(), batches(X, Y, 2), summary_size=float("nan"))
    with pytest.raises(ValueError, match="numeric"):
        fit_batches(NaiveBayes(numeric="nonsense"), batches(X, Y, 2))
    with pytest.raises(TypeError, match="iterator_factory is generator, but must be a function"):
        fit_batches(NaiveBayes(), batches(X, Y, 2)())
    with pytest.raises(TypeError, match="model is the class NaiveBayes, but must be a classifier"):
        fit_batches(NaiveBayes, batches(X, Y, 2))
    with pytest.raises(TypeError, match="model is GaussianNB, but must be a classifier of less"):
        fit_batches(GaussianNB(), batches(X, Y, 2))


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_parcels_arrive_as_they_were(protocol):
    cells = np.arange(6.0).reshape(2, 3)
    for array in (cells, cells.T, cells[:, ::2], cells[:0], np.array(["a", None], dtype=object)):
        found = pickle.loads(pickle.dumps(Parcel([array, "text"]), protocol)).content
        np.testing.assert_array_equal(found[0], array)
        assert found[1] == "text"
    beside: list[pickle.PickleBuffer] = []
    data = pickle.dumps(Parcel(cells), 5, buffer_callback=beside.append)
    shifted = memoryview(b"." + b"".join(map(bytes, beside)))[1:]
    found = pickle.loads(data, buffers=[shifted]).content
    assert found.flags.aligned
    assert found.flags.writeable
    np.testing.assert_array_equal(found, cells)
