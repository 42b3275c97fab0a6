"""Tests of which methods differ, against scipy, scikit-posthocs, baycomp and brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from lessnaive import stats
from lessnaive.plot import CriticalDifferenceDisplay

SHAPES = [(5, 2), (12, 4), (30, 6)]


def scores_of(shape, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    n_tables, n_methods = shape
    shift = np.linspace(0.0, 0.08, n_methods)
    values = rng.uniform(0.5, 0.9, size=(n_tables, 1)) + rng.normal(shift, 0.05, size=shape)
    return values.round(2) if ties else values


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("shape", [(12, 4), (30, 6), (7, 3)])
def test_friedman_is_that_of_scipy(shape, ties):
    scores = scores_of(shape, ties=ties)
    test = stats.friedman(scores)
    theirs = scipy_stats.friedmanchisquare(*scores.T)
    assert test.statistic == pytest.approx(theirs.statistic, rel=1e-10)
    assert test.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_iman_davenport_is_the_analysis_of_variance_of_the_ranks(ties):
    scores = scores_of((14, 4), ties=ties)
    ranks = scipy_stats.rankdata(-scores, axis=1)
    # Two-way analysis of variance by hand: methods against what is left.
    methods = 14 * ((ranks.mean(axis=0) - 2.5) ** 2).sum()
    left = ((ranks - ranks.mean(axis=0)) ** 2).sum()
    expected = (methods / 3) / (left / (3 * 13))
    test = stats.friedman(scores)
    assert test.iman_davenport == pytest.approx(expected, rel=1e-12)
    p_value = scipy_stats.f.sf(expected, 3, 3 * 13)
    assert test.iman_davenport_p_value == pytest.approx(p_value, rel=1e-12)


def test_ranks_of_losses_are_those_of_scores_turned_round():
    frame = pd.DataFrame(scores_of((12, 3), ties=True), columns=["a", "b", "c"])
    one, other = stats.friedman(frame), stats.friedman(-frame, higher_is_better=False)
    assert one.names == ["a", "b", "c"]
    np.testing.assert_array_equal(one.ranks, other.ranks)
    np.testing.assert_allclose(one.ranks, (-frame).rank(axis=1).mean())


def test_methods_that_are_all_the_same_do_not_differ():
    scores = np.repeat(np.linspace(0.1, 0.9, 6)[:, None], 3, axis=1)
    test = stats.friedman(scores)
    assert (test.p_value, test.iman_davenport_p_value) == (1.0, 1.0)
    assert (stats.nemenyi(scores) == 1).all()
    assert (stats.pairwise(scores) == 1).all()


def test_methods_that_all_tables_order_alike():
    test = stats.friedman(np.arange(12.0).reshape(4, 3))
    assert test.ranks.tolist() == [3.0, 2.0, 1.0]
    assert test.iman_davenport == np.inf
    assert test.iman_davenport_p_value == 0.0


@pytest.mark.parametrize("shape", SHAPES)
def test_nemenyi_is_that_of_scikit_posthocs(shape):
    peer = pytest.importorskip("scikit_posthocs")
    scores = scores_of(shape)
    theirs = peer.posthoc_nemenyi_friedman(scores).to_numpy()
    np.testing.assert_allclose(stats.nemenyi(scores), theirs, atol=1e-6)


def test_nemenyi_agrees_with_the_critical_difference():
    scores = scores_of((25, 5))
    ranks, p = stats.friedman(scores).ranks, stats.nemenyi(scores)
    far = np.abs(ranks[:, None] - ranks) > stats.critical_difference(5, 25)
    np.testing.assert_array_equal(p < 0.05, far)
    assert far.any()
    assert not far.all()


@pytest.mark.parametrize(
    ("n_methods", "quantile"), [(2, 1.960), (4, 2.569), (7, 2.949), (10, 3.164)]
)
def test_quantiles_are_those_printed_by_demsar(n_methods, quantile):
    found = stats.critical_difference(n_methods, 10) / np.sqrt(n_methods * (n_methods + 1) / 60)
    assert found == pytest.approx(quantile, abs=1e-3)


def test_wilcoxon_with_holm_is_that_of_scikit_posthocs():
    peer = pytest.importorskip("scikit_posthocs")
    scores = scores_of((20, 5))
    theirs = peer.posthoc_wilcoxon(list(scores.T), p_adjust="holm").to_numpy()
    np.testing.assert_allclose(stats.pairwise(scores), theirs, rtol=1e-9)


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt", "zsplit"])
def test_wilcoxon_of_methods_that_tie_is_that_of_scikit_posthocs(zero_method):
    peer = pytest.importorskip("scikit_posthocs")
    scores = scores_of((20, 4), ties=True)
    assert any((scores[:, i] == scores[:, j]).any() for i, j in combinations(range(4), 2))
    theirs = peer.posthoc_wilcoxon(list(scores.T), p_adjust="holm", zero_method=zero_method)
    ours = stats.pairwise(scores, zero_method=zero_method)
    np.testing.assert_allclose(ours, theirs.to_numpy(), rtol=1e-9)
    if zero_method == "wilcox":  # as scikit-posthocs, scipy and R do by default
        np.testing.assert_array_equal(ours, stats.pairwise(scores))


def test_rank_differences_are_normal():
    scores = scores_of((20, 4))
    ranks = stats.friedman(scores).ranks
    z = abs(ranks[0] - ranks[3]) / np.sqrt(4 * 5 / (6 * 20))
    found = stats.pairwise(scores, test="rank", adjust=None)[0, 3]
    assert found == pytest.approx(2 * scipy_stats.norm.sf(z), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_the_closed_test_with_bonferroni(seed):
    p = np.random.default_rng(seed).uniform(size=5) ** 3
    closed = [
        max(
            min(1.0, len(subset) * p[list(subset)].min())
            for size in range(1, 6)
            for subset in combinations(range(5), size)
            if i in subset
        )
        for i in range(5)
    ]
    np.testing.assert_allclose(stats.holm(p), closed, rtol=1e-12)


@pytest.mark.parametrize("n_methods", [2, 3, 4, 5])
def test_bergmann_hommel_is_the_closed_test_over_hypotheses_that_can_be_true(n_methods):
    rng = np.random.default_rng(n_methods)
    p = np.ones((n_methods, n_methods))
    upper = list(combinations(range(n_methods), 2))
    for i, j in upper:
        p[i, j] = p[j, i] = rng.uniform() ** 4
    found = stats.bergmann_hommel(p)
    # Whichever values the methods have, some of the hypotheses of equality are true.
    true_sets = {
        frozenset((i, j) for i, j in upper if value[i] == value[j])
        for value in product(range(n_methods), repeat=n_methods)
    }
    for pair in upper:
        levels = [len(s) * min(p[h] for h in s) for s in true_sets if pair in s]
        assert found[pair] == pytest.approx(min(1.0, max(levels)), rel=1e-12)
    adjusted = stats.holm([p[pair] for pair in upper])
    for place, pair in enumerate(upper):
        assert p[pair] <= found[pair] <= adjusted[place] + 1e-12


def test_eight_methods_are_looked_at_exhaustively():
    scores = scores_of((30, 8))
    one = stats.pairwise(scores, test="rank", adjust="bergmann_hommel")
    other = stats.pairwise(scores, test="rank", adjust="holm")
    assert (one <= other + 1e-12).all()
    assert (one < other - 1e-6).any()
    with pytest.raises(ValueError, match="take at most 9 methods, or holm"):
        stats.bergmann_hommel(np.ones((10, 10)))


@pytest.mark.parametrize("adjust", ["holm", "bergmann_hommel", None])
@pytest.mark.parametrize("test", ["wilcoxon", "rank"])
def test_no_p_value_is_above_one(test, adjust):
    for seed in range(5):
        scores = scores_of((6, 5), seed, ties=True)
        p = stats.pairwise(scores, test=test, adjust=adjust)
        assert (p >= 0).all()
        assert (p <= 1).all()
        np.testing.assert_array_equal(p, p.T)


def test_win_draw_loss():
    scores = [[0.90, 0.80, 0.80], [0.70, 0.70, 0.75], [0.60, 0.605, 0.1]]
    counts = stats.win_draw_loss(scores)
    assert counts[0, 1].tolist() == [1, 1, 1]
    assert counts[1, 0].tolist() == [1, 1, 1]
    assert counts[0, 2].tolist() == [2, 0, 1]
    assert stats.win_draw_loss(scores, tolerance=0.01)[0, 1].tolist() == [1, 2, 0]
    assert stats.win_draw_loss(scores, higher_is_better=False)[0, 2].tolist() == [1, 0, 2]
    assert (counts.sum(axis=2) == 3).all()


def test_infinite_losses_tie():
    losses = [[np.inf, np.inf], [np.inf, 0.3], [0.2, 0.4], [0.3, 0.35]]
    counts = stats.win_draw_loss(losses, higher_is_better=False)
    assert counts[0, 1].tolist() == [2, 1, 1]
    assert counts[0, 0].tolist() == [0, 4, 0]
    ranks_alike = [[9.0, 9.0], [9.0, 0.3], [0.2, 0.4], [0.3, 0.35]]
    np.testing.assert_array_equal(stats.pairwise(losses), stats.pairwise(ranks_alike))


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.03])
def test_the_bayesian_test_is_that_of_baycomp(rope):
    peer = pytest.importorskip("baycomp")
    scores = scores_of((25, 2), seed=3)
    theirs = peer.SignedRankTest.probs(
        scores[:, 1], scores[:, 0], rope=rope, nsamples=5_000, random_state=1
    )
    if rope == 0:
        theirs = (theirs[0], 0.0, theirs[1])
    ours = stats.bayesian_signed_rank(scores[:, 1], scores[:, 0], rope=rope, n_draws=20_000)
    np.testing.assert_allclose(ours, theirs, atol=0.03)
    assert sum(ours) == pytest.approx(1.0)
    turned = stats.bayesian_signed_rank(
        -scores[:, 1], -scores[:, 0], rope=rope, n_draws=20_000, higher_is_better=False
    )
    assert turned == ours


def test_the_corrected_t_test_holds_its_level_and_the_plain_one_does_not():
    """Two methods whose folds share training rows: differences are correlated by the test share."""
    rng = np.random.default_rng(0)
    n_runs, n_splits, share = 4000, 50, 0.2
    common = rng.normal(size=(n_runs, 1)) * np.sqrt(share)
    d = common + rng.normal(size=(n_runs, n_splits)) * np.sqrt(1 - share)
    corrected = [stats.corrected_resampled_t_test(x, test_share=share).p_value < 0.05 for x in d]
    plain = scipy_stats.ttest_1samp(d, 0.0, axis=1).pvalue < 0.05
    assert np.mean(corrected) == pytest.approx(0.05, abs=0.012)
    assert plain.mean() > 0.3


def test_the_corrected_t_test_by_its_formula():
    d = np.random.default_rng(0).normal(0.3, 1.0, size=10)
    test = stats.corrected_resampled_t_test(d)
    t = d.mean() / np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    assert test.statistic == pytest.approx(t, rel=1e-12)
    assert test.p_value == pytest.approx(2 * scipy_stats.t.sf(abs(t), 9), rel=1e-12)
    assert stats.corrected_resampled_t_test([0.0, 0.0]).p_value == 1.0
    assert stats.corrected_resampled_t_test([0.1, 0.1]).p_value == 0.0
    assert stats.corrected_resampled_t_test([0.4]).p_value == 1.0


def test_what_cannot_be_compared_is_refused():
    frame = pd.DataFrame({"nb": [0.1, 0.2], "lr": [0.3, np.nan]})
    with pytest.raises(ValueError, match="lr has no score on table 1"):
        stats.friedman(frame)
    with pytest.raises(ValueError, match="a column for each of two methods"):
        stats.nemenyi([0.1, 0.2])
    with pytest.raises(ValueError, match="neither 'wilcoxon' nor 'rank'"):
        stats.pairwise(np.eye(3), test="t")
    with pytest.raises(ValueError, match="none of 'wilcox', 'pratt', 'zsplit'"):
        stats.pairwise(np.eye(3), zero_method="drop")
    with pytest.raises(ValueError, match="none of 'holm'"):
        stats.pairwise(np.eye(3), adjust="bonferroni")
    with pytest.raises(ValueError, match="symmetric"):
        stats.bergmann_hommel([[1.0, 0.1], [0.2, 1.0]])
    with pytest.raises(ValueError, match="between 0 and 1"):
        stats.holm([0.5, 1.2])
    with pytest.raises(ValueError, match="on the same tables"):
        stats.bayesian_signed_rank([0.1], [0.1, 0.2])
    with pytest.raises(ValueError, match="finite"):
        stats.corrected_resampled_t_test([np.nan])


def test_the_diagram_joins_what_does_not_differ():
    plt = pytest.importorskip("matplotlib.pyplot")
    ranks, names = [1.2, 1.6, 3.4, 3.8], ["a", "b", "c", "d"]
    display = CriticalDifferenceDisplay(ranks=ranks, names=names, n_tables=30).plot()
    assert display.groups_ == [("a", "b"), ("c", "d")]
    texts = [text.get_text().strip() for text in display.ax_.texts]
    assert "a  1.20" in texts
    assert any(text.startswith("critical difference 0.86, 30 tables") for text in texts)
    near = CriticalDifferenceDisplay(ranks=[1.5, 2.0, 2.5], names="abc", n_tables=4).plot()
    assert near.groups_ == [("a", "b", "c")]
    plt.close("all")
