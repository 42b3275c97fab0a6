"""
Shrinking to naive Bayes, or to zero?
=====================================

Logistic regression with few rows needs a penalty, and a penalty needs a place to shrink to. The
lasso takes zero, which is right if few columns matter. :class:`~lessnaive.NBLogisticCV` takes the
coefficients of naive Bayes by default, which is right if the columns are independent within
classes. Neither is always better. Here is when, by the number of rows.
"""

# %%
# Two kinds of tables
# -------------------
# In the first all twelve columns tell a little about the class, each by itself. In the second only
# two columns decide; but all have a part in common, so that each of the others seems to tell
# something as well, when one looks at it alone as naive Bayes does.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from lessnaive import NBLogisticCV
from lessnaive.plot import CoefficientsDisplay, LogisticPathDisplay

N_COLUMNS = 12


def independent(rng, n):
    """Twelve columns, each of which tells a little."""
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, N_COLUMNS)) + 0.5 * y[:, None], y


def entangled(rng, n):
    """Twelve columns with a shared part, of which the first two matter."""
    X = rng.normal(size=(n, N_COLUMNS)) + 1.5 * rng.normal(size=(n, 1))
    odds = 2 * X[:, 0] - X[:, 1]
    return X, (rng.random(n) < expit(odds)).astype(int)


# %%
# And a real one: 30 measurements of cells from breasts, in ten triples that say nearly the same.


def breast_cancer(rng, n):
    """Rows of the table in random order."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = rng.permutation(len(y))[:n]
    return X[rows], y[rows]


# %%
# Log-loss by the number of rows
# ------------------------------
# Both choose the strength of the penalty in 5-fold cross-validation; the ends of the path to naive
# Bayes are naive Bayes itself and nearly no penalty at all, so that these come for free. Each
# number is a mean over repetitions. What is above the picture is worse than knowing nothing.


def learn(target, X, y):
    """Shrink to a target, as strongly as cross-validation says."""
    return NBLogisticCV(target=target, n_lams=12, cv=5).fit(X, y)


def losses(X, y, X_test, y_test):
    """Log-loss on other rows of four models."""
    toward_naive, toward_zero = learn("naive_bayes", X, y), learn("zero", X, y)
    path = toward_naive.path_
    out = [log_loss(y_test, m.predict_proba(X_test)) for m in (toward_naive, toward_zero)]
    for end in (0, -1):
        score = path.intercept[end] + X_test @ path.coef[end, 0]
        out.append(log_loss(y_test, expit(score)))
    return out


MODELS = {
    "toward naive Bayes": "C0",
    "toward zero": "C1",
    "naive Bayes": "0.6",
    "weakest penalty": "k",
}
SIZES = [30, 60, 125, 250, 500]


def curve(draw, sizes, n_test):
    """Mean losses, of shape (sizes, models)."""
    table = np.empty((6, len(sizes), len(MODELS)))
    for repetition, part in enumerate(table):
        X, y = draw(np.random.default_rng(repetition), sizes[-1] + n_test)
        for place, n in enumerate(sizes):
            part[place] = losses(X[:n], y[:n], X[sizes[-1] :], y[sizes[-1] :])
    return table.mean(axis=0)


panels = {
    "independent columns": (SIZES, curve(independent, SIZES, 2000)),
    "entangled columns": (SIZES, curve(entangled, SIZES, 2000)),
    "breast cancer": (SIZES[:-1], curve(breast_cancer, SIZES[:-1], 319)),
}

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (title, (sizes, table)) in zip(axes, panels.items(), strict=True):
    for (name, colour), column in zip(MODELS.items(), table.T, strict=True):
        dashed = name in ("naive Bayes", "weakest penalty")
        ax.plot(sizes, column, color=colour, ls="--" if dashed else "-", marker=".", label=name)
    ax.set(title=title, xscale="log", xlabel="training rows", ylim=(0, 1))
    ax.set_xticks(sizes, labels=sizes)
    ax.minorticks_off()
axes[0].set_ylabel("log-loss on other rows")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# Where naive Bayes is right, it is the better place with few rows: what each column tells alone
# need not be learned again. With many rows all are alike, as any penalty fades.
#
# Where naive Bayes is wrong, zero is better, and by far on the cells: naive Bayes counts thirty
# measurements as if each were news. Cross-validation weakens the pull then, but what is left of it
# still pulls to the wrong place. This fades with the rows as well.
#
# What the path looks like
# ------------------------
# The entangled columns again. Naive Bayes gives every column a share; as the penalty falls, the two
# that matter go to where they belong, and the others near zero.

X, y = entangled(np.random.default_rng(0), 400)
model = learn("naive_bayes", X, y)
LogisticPathDisplay.from_estimator(model, X, n_names=4)
plt.show()

# %%
# At the penalty that was chosen, beside naive Bayes:

CoefficientsDisplay.from_estimator(model, X)
plt.show()

# %%
# In doubt, try both: ``NBLogisticCV(target="zero")`` differs by a word, and the best score of
# ``path_.scores`` tells which to take.

for target in ("naive_bayes", "zero"):
    print(f"{target:<12} {learn(target, X, y).path_.scores.max():.3f}")
