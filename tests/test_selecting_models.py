"""What the models that select columns, or shrink them, have in common."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from lessnaive import (
    AveragedNB,
    CFSSelector,
    GroupLassoNB,
    RelevanceWeightedNB,
    SelectiveNB,
    StagewiseNB,
    TableError,
)
from lessnaive.datasets import load_penguins
from selection_cases import random_case

MODELS = [
    SelectiveNB(),
    SelectiveNB(criterion="cv_error"),
    RelevanceWeightedNB(),
    StagewiseNB(),
    StagewiseNB(choose="cv", epsilon=1 / 4, nu=2),
    StagewiseNB(average=True),
    AveragedNB(),
    GroupLassoNB(n_lams=5),
    GroupLassoNB(lam="cv", n_lams=5),
    CFSSelector(),
]


@pytest.mark.parametrize("seed", range(60))
def test_one_level_is_selection_by_error(seed):
    """Columns are in or out: every model on the way is the one of the greedy search."""
    X, y, weights = random_case(seed)
    width = X.shape[1]
    search = SelectiveNB(patience=width).fit(X, y, weights)
    stage = StagewiseNB(epsilon=1 / 1, nu=1, patience=None).fit(X, y, weights)
    added = [np.flatnonzero(step).item() for step in np.diff(stage.path_.levels, axis=0)]
    assert added == [step.column for step in search.path_[1:]]
    np.testing.assert_allclose(stage.path_.error, [s.error for s in search.path_], atol=1e-12)
    log_loss = [step.log_loss for step in search.path_]
    np.testing.assert_allclose(stage.path_.deviance, np.multiply(2, log_loss), rtol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_one_level_is_selection_by_aic(seed):
    """Where both choose by AIC, from steps by the log-loss, they are the same model."""
    X, y, weights = random_case(seed)
    search = SelectiveNB(criterion="aic", patience=X.shape[1]).fit(X, y, weights)
    stage = StagewiseNB(epsilon=1 / 1, nu=1, patience=None, criterion="log_loss").fit(X, y, weights)
    np.testing.assert_array_equal(stage.weights_, search.weights_)
    assert stage.objective_ == pytest.approx(search.objective_, rel=1e-9)
    np.testing.assert_array_equal(
        stage.predict_joint_log_proba(X), search.predict_joint_log_proba(X)
    )


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_failed_fit_leaves_the_model_as_it_was(model, fitted):
    X, y = load_penguins(backend="pandas")
    X, y = X.iloc[::4], np.asarray(y)[::4]
    model = type(model)(**model.get_params())
    if fitted:
        model.fit(X, y)
    before = dict(vars(model))
    for bad, message in [
        (X.assign(body_mass_g=np.inf), "body_mass_g"),
        (X.iloc[:0], "0 sample"),
        (X.assign(sex=[{"a": 1}] * len(X)), "sex"),
    ]:
        with pytest.raises((TableError, ValueError), match=message):
            model.fit(bad, y[: len(bad)])
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, ["a"] * len(y))
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X, y, -np.ones(len(y)))
    after = vars(model)
    assert after.keys() == before.keys()
    assert all(after[name] is value for name, value in before.items())


DIGESTS = """
import hashlib
import numpy as np
from lessnaive import (
    AveragedNB, CFSSelector, GroupLassoNB, RelevanceWeightedNB, SelectiveNB, StagewiseNB
)

rng = np.random.default_rng(0)
y = rng.integers(0, 3, 12_000)
X = rng.normal(size=(12_000, 8)) + y[:, None] * rng.random(8)
X[:, :3] = X[:, :3].round()
weights = rng.random(12_000)
models = [
    SelectiveNB(criterion="log_loss", patience=8),
    SelectiveNB(criterion="log_loss", direction="backward"),
    SelectiveNB(criterion="cv_error"),
    RelevanceWeightedNB(),
    StagewiseNB(epsilon=1 / 20, patience=1),
    StagewiseNB(epsilon=1 / 20, patience=1, criterion="log_loss"),
    GroupLassoNB(n_lams=5),
    AveragedNB(),
    AveragedNB(numeric="gaussian"),
    CFSSelector(),
]
for model in models:
    model.set_params(categorical_features=[0, 1, 2]).fit(X, y, weights)
    numbers = [v for v in vars(model).values() if isinstance(v, np.ndarray | float)]
    path = getattr(model, "path_", [])
    numbers.append(np.array(path[1:]) if isinstance(path, list) else path.deviance)
    if hasattr(model, "predict_joint_log_proba"):
        numbers.append(model.predict_joint_log_proba(X))
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in numbers))
    print(type(model).__name__, len(numbers), digest.hexdigest())
"""


def test_the_number_of_threads_changes_no_bit():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", DIGESTS],
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2)
    ]
    assert len(outputs[0].splitlines()) == 10
    assert outputs[1] == outputs[0]
