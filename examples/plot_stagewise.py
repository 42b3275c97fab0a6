"""
Redundant columns, and why part of a column helps
=================================================

Naive Bayes takes columns for independent within each class. A column that says nothing does little
harm then, but a column that repeats another is counted twice. This example redraws figures 1 to 3
of Vidaurre, Bielza and Larrañaga ("Forward stagewise naïve Bayes", 2012), which show the harm, and
then looks at what :class:`~lessnaive.StagewiseNB` does about it.
"""

# %%
# Three columns and some company
# ------------------------------
# Three classes, equally frequent, and three columns with three values each. The first column tells
# the first class from the others, the second and third tell these from each other. Each table below
# has one row per value and one column per class.

import matplotlib.pyplot as plt
import numpy as np

from lessnaive import NaiveBayes, StagewiseNB
from lessnaive.plot import StagewisePathDisplay

FIRST = np.array([[0.80, 0.33, 0.33], [0.10, 0.33, 0.33], [0.10, 0.34, 0.34]])
OTHER = np.array([[0.33, 0.30, 0.30], [0.33, 0.10, 0.60], [0.34, 0.60, 0.10]])
NOISE = np.full((3, 3), 1 / 3)


def draw(rng, n, tables):
    """Classes, and one column per table of probabilities."""
    y = rng.integers(0, 3, n)
    borders = np.cumsum(tables, axis=1)[:, :-1]
    columns = [(rng.random(n) > border[:, y]).sum(axis=0) for border in borders]
    return np.array(columns).T, y


def with_noise(rng, n, kind, number=50):
    """Three columns, and irrelevant ones or copies of the first."""
    X, y = draw(rng, n, [FIRST, OTHER, OTHER, *[NOISE] * (number if kind == "irrelevant" else 0)])
    if kind == "redundant":
        X = np.hstack([X, np.repeat(X[:, :1], number, axis=1)])
    return X, y


# %%
# Irrelevant columns and copies
# -----------------------------
# 1,000 rows for training and 3,000 for testing, 40 times over.

KINDS = ("none", "irrelevant", "redundant")
errors = {kind: [] for kind in KINDS}
for repetition in range(40):
    for kind in KINDS:
        rng = np.random.default_rng(repetition)
        X, y = with_noise(rng, 1000, kind)
        X_test, y_test = with_noise(rng, 3000, kind)
        model = NaiveBayes(categorical_features="all").fit(X, y)
        errors[kind].append(1 - model.score(X_test, y_test))

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.boxplot([errors[kind] for kind in KINDS])
axes.set_xticks([1, 2, 3], ["three columns", "+ 50 irrelevant", "+ 50 copies"])
axes.set(ylabel="test error", title="Naive Bayes: copies do more harm than noise")
axes.grid(axis="y", alpha=0.3)
plt.show()

# %%
# Where does the error come from? Columns are added one by one; lines are the errors of the classes.
# Copies of the first column make the model ever surer of what that column says. They help the class
# that it is about, and the two others can no longer be told apart: what the second and third column
# say about them is drowned.

COUNTS = np.arange(1, 54)
figure, both = plt.subplots(1, 2, figsize=(8.5, 3.6), sharey=True, layout="constrained")
for axes, kind in zip(both, KINDS[1:], strict=True):
    rng = np.random.default_rng(0)
    X, y = with_noise(rng, 1000, kind)
    X_test, y_test = with_noise(rng, 3000, kind)
    by_class = []
    for count in COUNTS:
        model = NaiveBayes(categorical_features="all").fit(X[:, :count], y)
        wrong = model.predict(X_test[:, :count]) != y_test
        by_class.append([wrong.mean(), *(wrong[y_test == c].mean() for c in range(3))])
    for place, curve in enumerate(np.array(by_class).T):
        style = {"color": "black", "label": "all"} if place == 0 else {"label": f"class {place}"}
        axes.plot(COUNTS, curve, **style)
    axes.axvline(3, color="black", linestyle=":", linewidth=1)
    axes.set(xlabel="number of columns", title=f"then {kind} columns")
    axes.grid(alpha=0.3)
both[0].set_ylabel("test error")
both[1].legend()
plt.show()

# %%
# Part of a column
# ----------------
# Real columns are rarely copies: they overlap. In half of the rows below the third column repeats
# the second. Each of the two knows something that the other does not, so that leaving one out loses
# something, and taking both counts the shared part twice. Between "out" and "in" there is more:
# probabilities
#
# .. math:: \alpha\, p(x_j \mid c) + (1 - \alpha)\, p(x_j)
#
# which are those of naive Bayes for :math:`\alpha = 1` and say nothing for :math:`\alpha = 0`. The
# pictures show the log-loss on 30,000 test rows for all pairs :math:`(\alpha_2, \alpha_3)`, with
# the first column fully in; the cross is the lowest.

SHARES = np.linspace(0, 1, 21)


def overlapping(rng, n, overlap):
    X, y = draw(rng, n, [FIRST, OTHER, OTHER])
    repeated = rng.random(n) < overlap
    X[repeated, 2] = X[repeated, 1]
    return X, y


def evidence(X, y, X_test, column, share):
    """log(share p(x | c) + (1 - share) p(x)) of the test rows."""
    counts = np.array(
        [[np.sum((X[:, column] == v) & (y == c)) for c in range(3)] for v in range(3)]
    )
    per_class, pooled = (
        counts / counts.sum(axis=0),
        counts.sum(axis=1, keepdims=True) / counts.sum(),
    )
    return np.log(share * per_class + (1 - share) * pooled)[X_test[:, column]]


def grid_of_losses(overlap):
    rng = np.random.default_rng(1)
    X, y = overlapping(rng, 30_000, overlap)
    X_test, y_test = overlapping(rng, 30_000, overlap)
    first = evidence(X, y, X_test, 0, 1.0)
    second, third = ([evidence(X, y, X_test, j, a) for a in SHARES] for j in (1, 2))
    out = np.empty((len(SHARES), len(SHARES)))
    for i, two in enumerate(second):
        for k, three in enumerate(third):
            scores = first + two + three
            scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
            out[i, k] = -scores[np.arange(len(y_test)), y_test].mean()
    return out


OVERLAPS = {"independent": 0.0, "repeated in half of the rows": 0.5, "repeated in 90 %": 0.9}
figure, row = plt.subplots(1, 3, figsize=(10, 3.7), sharey=True, layout="constrained")
for axes, (title, overlap) in zip(row, OVERLAPS.items(), strict=True):
    losses = grid_of_losses(overlap)
    image = axes.contourf(SHARES, SHARES, losses.T, levels=15, cmap="viridis_r")
    i, k = np.unravel_index(losses.argmin(), losses.shape)
    axes.plot(SHARES[i], SHARES[k], "x", color="red", markersize=10, markeredgewidth=2.5)
    axes.set(title=title, xlabel=r"$\alpha_2$", aspect="equal")
    figure.colorbar(image, ax=axes, shrink=0.8)
    print(
        f"{title}: lowest log-loss {losses.min():.4f} at ({SHARES[i]:.2f}, {SHARES[k]:.2f}); "
        f"both in {losses[-1, -1]:.4f}, only one in {losses[-1, 0]:.4f}"
    )
row[0].set_ylabel(r"$\alpha_3$")
plt.show()

# %%
# Independent columns should both be fully in. The more they overlap, the further the best model
# moves inwards. Selecting columns can only reach the corners.
#
# Small steps
# -----------
# Stagewise naive Bayes walks on this map: each step raises one :math:`\alpha`, never to lower it
# again. Here it has the three columns, the third of which repeats the second in half of the rows,
# and thirty copies of the first. ``nu=4`` keeps steps small, at most a tenth of the way.

rng = np.random.default_rng(2)
X, y = overlapping(rng, 1000, 0.5)
X_test, y_test = overlapping(rng, 3000, 0.5)
X, X_test = (np.hstack([part, np.repeat(part[:, :1], 30, axis=1)]) for part in (X, X_test))
models = {
    "naive Bayes": NaiveBayes(categorical_features="all"),
    "stagewise": StagewiseNB(categorical_features="all", criterion="log_loss", nu=4),
}
for name, model in models.items():
    model.fit(X, y)
    log_p = model.predict_log_proba(X_test)[np.arange(len(y_test)), y_test]
    print(f"{name}: test error {1 - model.score(X_test, y_test):.3f}, log-loss {-log_p.mean():.3f}")
print("shares of the first three columns:", models["stagewise"].weights_[:3])
print("of their copies:", models["stagewise"].weights_[3:])

StagewisePathDisplay.from_estimator(models["stagewise"])
plt.show()
