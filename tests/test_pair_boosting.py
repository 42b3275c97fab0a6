"""Boosting restricted to pairs, against scikit-learn's and against a tree grown by hand."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax
from sklearn.ensemble import HistGradientBoostingClassifier

from lessnaive import _core

RULES = {
    "leaves": 6, "l2": 1.0, "least_weight": 5.0, "rate": 0.1,
    "share": 1.0, "order": list(range(5)), "seed": 0,
}  # fmt: skip
PAIRS = [(0, 1), (1, 2), (0, 3)]


def draw(n_rows, n_classes, seed=0, n_codes=12, gaps=0.0):
    """Columns of codes, the classes of which depend on two pairs."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(1, n_codes, size=(5, n_rows)).astype(np.uint8)
    codes[rng.random(codes.shape) < gaps] = 0
    half = n_codes // 2
    signal = ((codes[0] > half) ^ (codes[1] > half)) * 2.0 + (codes[2] > half) * (codes[1] > 3)
    scores = np.outer(signal, np.linspace(-1, 1, n_classes)) + rng.gumbel(size=(n_rows, n_classes))
    return list(codes), scores.argmax(axis=1)


def boost(columns, labels, weights=None, held_out=None, rounds=50, ordered=True, pairs=PAIRS):
    """Boost for so many rounds."""
    weights = np.ones(len(labels)) if weights is None else weights
    n_codes = [int(c.max()) + 1 for c in columns]
    kinds = [ordered] * len(columns)
    model = _core.PairBoosting(
        columns, n_codes, kinds, pairs, labels, int(labels.max()) + 1, weights, held_out, **RULES
    )
    model.advance(rounds)
    return model


def scores_of(model, n_rows):
    out = np.empty((n_rows, model.outputs))
    model.scores(out)
    return out


def log_loss(scores, labels):
    full = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    return -log_softmax(full, axis=1)[np.arange(len(labels)), labels].mean()


def collapsed(model, columns, pairs=PAIRS):
    """Scores by the tables of columns and pairs."""
    n_codes = [int(c.max()) + 1 for c in columns]
    total = np.tile(np.array(model.start), (len(columns[0]), 1))
    for j, codes in enumerate(columns):
        table = np.zeros((n_codes[j], model.outputs))
        model.table(j, None, model.rounds, table)
        total += table[codes]
    for a, b in pairs:
        table = np.zeros((n_codes[a] * n_codes[b], model.outputs))
        model.table(a, b, model.rounds, table)
        total += table[columns[a].astype(int) * n_codes[b] + columns[b]]
    return total


@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_scikit_learn_does(n_classes):
    columns, labels = draw(1500, n_classes)
    model = boost(columns, labels, rounds=40)
    peer = HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=6, learning_rate=0.1, l2_regularization=1.0,
        min_samples_leaf=5, early_stopping=False,
        interaction_cst=[*map(set, PAIRS), *({j} for j in range(5))],
    )  # fmt: skip
    X = np.stack(columns, axis=1).astype(float)
    expected = peer.fit(X, labels).decision_function(X).reshape(len(labels), -1)
    found = scores_of(model, len(labels))
    if n_classes > 2:  # which is known up to a constant of the row
        found, expected = (s - s.mean(axis=1, keepdims=True) for s in (found, expected))
    # Its gradients have 32 bits, and ties may fall the other way.
    assert np.median(np.abs(found - expected)) < 1e-3
    assert abs(log_loss(found, labels) - log_loss(expected, labels)) < 2e-4


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("ordered", [True, False])
def test_tables_hold_all_of_it(n_classes, ordered):
    columns, labels = draw(600, n_classes, gaps=0.1)
    held_out = (np.arange(600) % 3 == 0).astype(float)
    model = boost(columns, labels, 1 - held_out, held_out, rounds=200, ordered=ordered)
    assert 0 < model.rounds <= model.rounds
    np.testing.assert_allclose(
        collapsed(model, columns), scores_of(model, len(labels)), rtol=0, atol=1e-12
    )


def test_only_pairs_that_are_given():
    columns, labels = draw(800, 2)
    model = boost(columns, labels, rounds=30)
    for a, b in [(0, 2), (2, 3), (3, 4)]:
        table = np.zeros((12 * 12, 1))
        model.table(a, b, model.rounds, table)
        assert not table.any()
    table = np.zeros((12 * 12, 1))
    model.table(0, 1, model.rounds, table)
    assert table.any()


def test_trees_look_at_a_share_of_the_columns():
    """One column of five: no tree has a pair, and all columns are drawn in the end."""
    columns, labels = draw(800, 2)
    rules = {**RULES, "share": 0.2}
    given = (columns, [12] * 5, [True] * 5, PAIRS, labels, 2, np.ones(800), None)
    model = _core.PairBoosting(*given, **rules)
    model.advance(40)
    for a, b in PAIRS:
        table = np.zeros((12 * 12, 1))
        model.table(a, b, model.rounds, table)
        assert not table.any()
    for j in range(5):
        table = np.zeros((12, 1))
        model.table(j, None, model.rounds, table)
        assert table.any()


def test_draws_follow_the_order_and_the_seed():
    columns, labels = draw(800, 2)

    def learned(places, seed):
        rules = {**RULES, "share": 0.4, "order": np.argsort(places).tolist(), "seed": seed}
        own = [columns[j] for j in places]
        where = np.argsort(places)
        pairs = [tuple(sorted((int(where[a]), int(where[b])))) for a, b in PAIRS]
        model = _core.PairBoosting(
            own, [12] * 5, [True] * 5, pairs, labels, 2, np.ones(800), None, **rules
        )
        model.advance(20)
        return scores_of(model, 800)

    one = learned([0, 1, 2, 3, 4], 0)
    np.testing.assert_allclose(learned([4, 2, 0, 1, 3], 0), one, rtol=0, atol=1e-12)
    assert np.abs(learned([0, 1, 2, 3, 4], 1) - one).max() > 0.01


def test_one_split_by_hand():
    rng = np.random.default_rng(1)
    codes = rng.integers(1, 6, 200).astype(np.uint8)
    labels = (rng.random(200) < codes / 6).astype(np.int64)
    rules = {**RULES, "leaves": 2, "rate": 1.0, "order": [0]}
    model = _core.PairBoosting([codes], [6], [True], [], labels, 2, np.ones(200), None, **rules)
    model.advance(1)
    p = labels.mean()
    gradient, hessian = p - labels, np.full(200, p * (1 - p))

    def score(rows):
        return gradient[rows].sum() ** 2 / (hessian[rows].sum() + 1)

    cut = max(range(1, 5), key=lambda c: score(codes <= c) + score(codes > c))
    table = np.zeros((6, 1))
    model.table(0, None, 1, table)
    for code in range(1, 6):
        side = (codes <= cut) == (code <= cut)
        step = -gradient[side].sum() / (hessian[side].sum() + 1)
        assert table[code, 0] == pytest.approx(step, rel=1e-12)
    chance = expit(model.start[0])
    assert chance == pytest.approx(p, rel=1e-12)


def test_weights_are_rows_repeated():
    columns, labels = draw(300, 3)
    times = np.random.default_rng(2).integers(0, 3, 300)
    weighted = boost(columns, labels, times.astype(float), rounds=30)
    repeated = boost([np.repeat(c, times) for c in columns], np.repeat(labels, times), rounds=30)
    np.testing.assert_allclose(
        collapsed(weighted, columns), collapsed(repeated, columns), rtol=0, atol=1e-10
    )


def test_same_numbers_for_any_number_of_threads():
    columns, labels = draw(30_000, 2)
    found = []
    before = _core.max_threads()
    for threads in (1, 2, 4):
        _core.set_threads(threads)
        found.append(scores_of(boost(columns, labels, rounds=5), len(labels)))
    _core.set_threads(before)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_held_out_rows_get_scores_and_teach_nothing():
    columns, labels = draw(400, 3)
    held_out = (np.arange(400) % 4 == 0).astype(float)
    seen = held_out == 0
    model = boost(columns, labels, 1 - held_out, held_out)
    other = boost(columns, np.where(seen, labels, 0), 1 - held_out, held_out)
    assert (scores_of(model, 400) == scores_of(other, 400)).all()
    alone = boost([c[seen] for c in columns], labels[seen])
    np.testing.assert_allclose(
        scores_of(model, 400)[seen], scores_of(alone, int(seen.sum())), rtol=0, atol=1e-12
    )
    assert log_loss(scores_of(model, 400)[~seen], labels[~seen]) < 0.9 * np.log(3)


def test_columns_that_cannot_be_split_do_not_end_it():
    # Two of three columns have too few rows of their own: most draws have no tree to offer.
    columns, labels = draw(400, 2)
    rare = np.ones(400, np.uint8)
    rare[:3] = 2
    rules = {**RULES, "share": 0.3, "order": [0, 1, 2]}
    model = _core.PairBoosting(
        [columns[0], rare, rare], [12, 3, 3], [True] * 3, [], labels, 2, np.ones(400), None, **rules
    )
    model.advance(40)
    assert model.rounds == 40
    assert len(np.unique(scores_of(model, 400).round(9))) > 2


def test_nothing_to_split():
    labels = np.arange(40) % 2
    rules = {**RULES, "order": [0]}
    same = [np.ones(40, np.uint8)]
    model = _core.PairBoosting(same, [2], [True], [], labels, 2, np.ones(40), None, **rules)
    model.advance(7)
    assert model.rounds == 7
    assert (scores_of(model, 40) == model.start).all()


WRONG = {
    "a code is out of range": {"n_codes": [12, 12, 12, 12, 5]},
    "wrong number of codes": {"n_codes": [12, 12, 12, 12, 257]},
    "columns differ in length": {"columns": [np.ones(3, np.uint8)] * 5},
    "ascending places": {"pairs": [(1, 1)]},
    "a label is no class": {"classes": 2},
    "weights differ in length": {"weights": np.ones(3)},
    "must not be negative": {"weights": np.full(100, -1.0)},
    "positive, finite sum": {"weights": np.zeros(100)},
    "wrong number of leaves": {"leaves": 1},
    "out of range": {"rate": float("nan")},
    "share of columns": {"share": 0.0},
    "none twice": {"order": [0, 1, 2, 3, 3]},
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_input(message):
    columns, labels = draw(100, 3)
    given = {
        "columns": columns, "n_codes": [12] * 5, "ordered": [True] * 5, "pairs": PAIRS,
        "labels": labels, "classes": 3, "weights": np.ones(100), "held_out": None, **RULES,
    }  # fmt: skip
    _core.PairBoosting(**given)
    with pytest.raises(ValueError, match=message):
        _core.PairBoosting(**{**given, **WRONG[message]})


@pytest.mark.parametrize("ordered", [True, False])
def test_places_do_not_decide_between_equal_columns(ordered):
    columns, labels = draw(400, 2, n_codes=4)
    # Columns 0 and 4 say the same: the one that is first in the order of drawing is taken.
    columns[4] = columns[0].copy()
    order, n_codes = [3, 4, 1, 0, 2], 4
    moved = [2, 0, 3, 1, 4]  # where each column goes
    results = []
    for place in ([0, 1, 2, 3, 4], moved):
        put = [columns[place.index(k)] for k in range(5)]
        pairs = [tuple(sorted((place[a], place[b]))) for a, b in [(0, 1), (1, 4), (1, 2)]]
        rules = RULES | {"order": [place[j] for j in order], "share": 0.7}
        model = _core.PairBoosting(
            put, [n_codes] * 5, [ordered] * 5, pairs, labels, 2, np.ones(400), None, **rules
        )
        model.advance(30)
        tables = []
        for j in range(5):
            tables.append(np.zeros((n_codes, 1)))
            model.table(place[j], None, 30, tables[-1])
        results.append(np.array(tables))
    assert results[0][4].any()
    np.testing.assert_allclose(results[0], results[1], rtol=0, atol=1e-9)
