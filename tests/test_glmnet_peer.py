"""Lasso, ridge and elastic net beside those of R's glmnet.

Its paths are frozen in ``oracles/glmnet_paths.json`` by ``oracles/make_glmnet_paths.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from glmnet_cases import RATIOS, SHARES, peer_tables
from lessnaive import NBLogistic

PEER = json.loads(Path(__file__).with_name("oracles").joinpath("glmnet_paths.json").read_text())
TABLES = peer_tables()


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("table", TABLES)
def test_path_of_glmnet(table, ratio):
    D, y = TABLES[table]
    peer = PEER[table][str(ratio)]
    coefficients = np.array(peer["coefficients"])
    scale = D.std(axis=0)
    penalty = {0.0: "l2", 1.0: "l1"}.get(ratio, "elastic_net")
    for k, lam in enumerate(peer["lams"]):
        model = NBLogistic(
            target="zero", penalty=penalty, l1_ratio=ratio, lam=lam, categorical_features=None
        ).fit(D, y)
        theirs = coefficients[:, 1:, k] * scale
        ours = model.coef_ * scale
        # Of several classes what all share says nothing, and glmnet settles it in its own way.
        shared = np.median if ratio == 1.0 else np.mean
        if len(ours) > 1:
            ours = ours - shared(ours, axis=0)
            theirs = theirs - shared(theirs, axis=0)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5, err_msg=f"lam {lam}")
        scores = [
            intercept + D @ slope.T for intercept, slope in _both(model, coefficients[:, :, k])
        ]
        ours, theirs = (s - s.mean(axis=1, keepdims=True) * (s.shape[1] > 1) for s in scores)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * max(1, np.abs(theirs).max()))


def _both(model, peer):
    return (model.intercept_, model.coef_), (peer[:, 0], peer[:, 1:])


@pytest.mark.parametrize("table", TABLES)
def test_largest_penalty_of_glmnet(table):
    D, y = TABLES[table]
    model = NBLogistic(target="zero", lam=1e9, categorical_features=None).fit(D, y)
    assert model.lambda_max_ == pytest.approx(PEER[table]["1.0"]["lams"][0] / SHARES[0], rel=1e-6)
