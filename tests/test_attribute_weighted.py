"""AttributeWeightedNB: the squared loss, bounds, and mixed weights (RNB)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import lessnaive
from dense_evidence import DenseEvidence
from lessnaive import AttributeWeightedNB, BaristaNB, BaristaNBCV, NaiveBayes
from weighted_tables import dense_of, table

LEARNED = ["objective_", "n_iter_", "converged_", "kkt_residual_", "suboptimality_bound_"]
LEARNED += ["suboptimality_rule_", "lambda_max_", "lipschitz_"]


def tied(dense: DenseEvidence, w: np.ndarray) -> np.ndarray:
    return np.broadcast_to(w, (dense.n_classes, dense.n_columns))


@pytest.mark.parametrize("name", ["generated", "binary"])
@pytest.mark.parametrize("weights", ["shared", "class"])
@pytest.mark.parametrize("bounds", [(0, 1), (0, None), (-0.5, 0.7)])
def test_bounds_against_scipy(name, weights, bounds):
    X, y = table(name)
    dense = dense_of(X, y)
    model = AttributeWeightedNB(weights=weights, bounds=bounds, leave_one_out=False, l2=0.5)
    model.fit(X, y)

    def value(flat):
        w = tied(dense, flat) if weights == "shared" else flat.reshape(model.weights_.shape)
        slope = dense.gradient(w)
        slope = slope.sum(axis=0) if weights == "shared" else slope
        return dense.loss(w) + 0.5 * flat @ flat, slope.ravel() + flat

    found = scipy.optimize.minimize(
        value, np.full(model.weights_.size, 0.5), jac=True, method="L-BFGS-B",
        bounds=[bounds] * model.weights_.size,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10000},
    )  # fmt: skip
    assert model.converged_
    assert model.objective_ == pytest.approx(found.fun, rel=1e-8)
    np.testing.assert_allclose(model.weights_.ravel(), found.x, atol=2e-3)
    assert (model.weights_ >= bounds[0]).all()
    if bounds[1] is not None:
        assert (model.weights_ <= bounds[1]).all()


@pytest.mark.parametrize("weights", ["shared", "class"])
@pytest.mark.parametrize(
    ("l1", "l2", "solver"),
    [
        (0.0, 0.1, "prox_newton"),
        (0.0, 0.1, "fista"),
        (0.0, 0.1, "lbfgs"),
        (0.5, 0.01, "prox_newton"),
        (0.5, 0.01, "fista"),
    ],
)
def test_the_squared_loss_ends_where_nothing_slopes(weights, l1, l2, solver):
    X, y = table("generated")
    dense = dense_of(X, y)
    model = AttributeWeightedNB(
        weights=weights, loss="squared", l1=l1, l2=l2, leave_one_out=False, solver=solver, tol=1e-6
    ).fit(X, y)
    assert model.converged_
    w = tied(dense, model.weights_)
    slope = dense.gradient(w, squared=True)
    slope = slope.sum(axis=0) if weights == "shared" else slope
    slope = slope + 2 * l2 * model.weights_
    away = model.weights_ != 0
    assert np.abs(slope + l1 * np.sign(model.weights_))[away].max() < 1e-4
    assert np.abs(slope)[~away].max(initial=0.0) <= l1
    penalty = l1 * np.abs(model.weights_).sum() + l2 * (model.weights_**2).sum()
    assert model.objective_ == pytest.approx(dense.loss(w, squared=True) + penalty, rel=1e-10)
    start = np.ones_like(model.weights_)
    first = dense.loss(tied(dense, start), squared=True) + l1 * start.sum() + l2 * start.sum()
    assert model.objective_ < first
    assert model.suboptimality_rule_ == "none"


def mixed_loss(dense, shared, by_class, share, squared):
    p = (1 - share) * dense.proba(tied(dense, shared)) + share * dense.proba(by_class)
    if squared:
        return 0.5 * ((p - dense.one_hot) ** 2).sum()
    return -np.log((p * dense.one_hot).sum(axis=1)).sum()


@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
@pytest.mark.parametrize("loss", ["squared", "log"])
def test_mixed_weights(name, loss):
    """The objective by the published formula; no step within the bounds goes downhill."""
    X, y = table(name)
    dense = dense_of(X, y)
    model = AttributeWeightedNB(weights="mixed", loss=loss, leave_one_out=False, tol=1e-6)
    model.fit(X, y)
    parts = [model.shared_weights_, model.weights_.ravel(), [model.mixing_]]
    flat = np.concatenate(parts)
    m = dense.n_columns

    def value(x):
        return mixed_loss(dense, x[:m], x[m:-1].reshape(-1, m), x[-1], loss == "squared")

    assert model.objective_ == pytest.approx(value(flat), rel=1e-10)
    assert ((flat >= 0) & (flat <= 1)).all()
    start = np.append(np.ones(len(flat) - 1), 0.5)
    assert model.objective_ < value(start)
    for i in range(len(flat)):
        step = np.zeros_like(flat)
        step[i] = 1e-5
        slope = (value(flat + step) - value(flat - step)) / 2e-5
        free = 0 < flat[i] < 1
        uphill = slope >= -1e-3 if flat[i] == 0 else slope <= 1e-3
        assert abs(slope) < 1e-3 if free else uphill
    p = (1 - model.mixing_) * dense.proba(tied(dense, model.shared_weights_))
    p += model.mixing_ * dense.proba(model.weights_)
    np.testing.assert_allclose(model.predict_proba(X), p, atol=1e-12)
    assert (model.predict(X) == model.classes_[p.argmax(axis=1)]).all()


def test_mixed_weights_are_no_worse_than_either_kind():
    X, y = table("generated")
    options = {"loss": "log", "bounds": (0, 1), "leave_one_out": False}
    mixed = AttributeWeightedNB(weights="mixed", tol=1e-7, **options).fit(X, y)
    shared = AttributeWeightedNB(weights="shared", **options).fit(X, y)
    assert mixed.objective_ <= shared.objective_ + 1e-6


def test_mixed_weights_and_then_others():
    X, y = table("generated")
    model = AttributeWeightedNB(weights="mixed", loss="squared").fit(X, y)
    assert hasattr(model, "mixing_")
    model.set_params(weights="shared", loss="log").fit(X, y)
    assert not hasattr(model, "mixing_")
    assert not hasattr(model, "shared_weights_")
    alone = AttributeWeightedNB().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [
        BaristaNB(),
        BaristaNB(l1=0, l2=0, tol=1e-6, numeric="gaussian"),
        BaristaNBCV(grid=([1.0, 0.1], [0.1]), cv=2),
        AttributeWeightedNB(),
        AttributeWeightedNB(weights="class", bounds=(0, None), loss="squared", l2=0.1),
        AttributeWeightedNB(weights="mixed", loss="squared", tol=1e-6),
    ],
    ids=repr,
)
def test_model_files(model, tmp_path):
    X, y = table("mixed")
    model.fit(X, y)
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    lessnaive.save(again, tmp_path / "again.json")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    for method in ("predict", "predict_proba", "predict_log_proba"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    np.testing.assert_array_equal(again.weights_, model.weights_)
    np.testing.assert_array_equal(again.class_log_prior_, model.class_log_prior_)
    for name in LEARNED:
        assert getattr(again, name) == getattr(model, name), name
    for name in ("objective", "kkt_residual", "step"):
        np.testing.assert_array_equal(again.history_[name], model.history_[name])
    assert hasattr(again, "mixing_") == hasattr(model, "mixing_")
    if hasattr(model, "mixing_"):
        assert again.mixing_ == model.mixing_
        np.testing.assert_array_equal(again.shared_weights_, model.shared_weights_)
    assert again.get_params() == model.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bounds": (1, 0)}, r"bounds must be a lower and an upper number, got \(1, 0\)"),
        ({"bounds": (0, 1, 2)}, "bounds must be two numbers or None"),
        ({"bounds": (np.nan, 1)}, "bounds must be a lower and an upper number"),
        ({"weights": "mixed", "l1": 1.0}, 'weights="mixed" has no penalties: set l1=0 and l2=0'),
        ({"start": np.ones(5)}, r"start has shape \(5,\), but the weights have shape \(6,\)"),
        ({"bounds": (np.inf, np.inf)}, "bounds must be a lower and an upper number"),
        ({"bounds": (0.5, 2), "l2": 1.0}, "take bounds that hold it, another shrink_to, or no pen"),
        ({"start": np.inf}, "start must be finite numbers"),
        ({"start": 1e150}, "start must be finite numbers between -1,000,000 and 1,000,000"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        AttributeWeightedNB(**parameters).fit(*table("generated"))


@pytest.mark.parametrize("weights", ["shared", "class"])
@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
def test_weights_that_cannot_move(name, weights):
    X, y = table(name)
    model = AttributeWeightedNB(weights=weights, bounds=(1, 1), leave_one_out=False).fit(X, y)
    assert (model.weights_ == 1.0).all()
    assert model.converged_
    assert model.kkt_residual_ == 0.0
    naive = NaiveBayes(numeric="mdlp").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), naive.predict_proba(X))
    half = AttributeWeightedNB(weights=weights, bounds=(0.5, 0.5), start=0.5).fit(X, y)
    assert (half.weights_ == 0.5).all()


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("settings", [{}, {"l1": 0.5, "l2": 0.1}, {"bounds": (0.2, 3.0)}])
def test_many_columns_need_no_matrix(n_classes, settings, monkeypatch):
    """A matrix of columns times columns grows with their square; the minimum is the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 300)
    X = rng.normal(size=(300, 40)) + 0.7 * rng.normal(size=(n_classes, 40))[y]
    expected = AttributeWeightedNB(**settings).fit(X, y)

    def fail(*arguments, **others):
        raise AssertionError("a matrix of second derivatives was made")

    monkeypatch.setattr("lessnaive.loss.WeightedEvidenceLoss.curvature", fail)
    monkeypatch.setattr("lessnaive.loss.WeightedEvidenceLoss.main_curvature", fail)
    monkeypatch.setattr("lessnaive.loss.weighted._MOST_IN_GRAMS", 10)
    model = AttributeWeightedNB(**settings, solver="newton_cg").fit(X, y)
    assert model.converged_
    assert expected.converged_
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    np.testing.assert_allclose(model.weights_, expected.weights_, atol=1e-4)
    assert model.lipschitz_ == pytest.approx(expected.lipschitz_, rel=1e-9)
