"""
Spam: binarized or logarithmic features
=======================================

Spambase describes 4601 e-mails by how often certain words and characters occur in them and by how
long their runs of capital letters are. Naive Bayes needs a likelihood for each of these 57 columns.
This example compares two:

- only ask *whether* a word occurs: a Bernoulli variable with a Beta(a, a) prior, for a from 1
  (maximum likelihood) to 100;
- use *how often* it occurs: a normal distribution, of the frequency as it is or of its logarithm.
"""

# %%
# The data
# --------
# The table comes from OpenML, or from the folder that the environment variable
# ``LESSNAIVE_DATA_HOME`` names. Some e-mails are in it several times. One of each is kept, so that
# no e-mail of the test set has been seen in training. A third of them, at random, is the test set.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from lessnaive import NaiveBayes, datasets

try:
    mails, is_spam = datasets.load("spambase", backend="pandas")
except FileNotFoundError as error:
    print(f"This example is skipped. {error}")
    raise SystemExit(0) from None

first = ~mails.assign(is_spam=is_spam).duplicated()
X_train, X_test, y_train, y_test = train_test_split(
    mails[first], is_spam[first], test_size=1 / 3, stratify=is_spam[first], random_state=0
)
print(f"{len(mails)} e-mails, {first.sum()} of them different:", end=" ")
print(f"{len(X_train)} for training, {len(X_test)} for testing")

# %%
# Words that occur or not
# -----------------------
# A Beta(a, a) prior acts like 2(a - 1) additional e-mails of each class, half of them with the
# word. Priors of the classes are their shares in the training set.


def error_rates(model, transform):
    """Share of wrong predictions in the training and in the test set, in percent."""
    train, test = transform(X_train), transform(X_test)
    model.fit(train, y_train)
    return [100 * (1 - model.score(train, y_train)), 100 * (1 - model.score(test, y_test))]


def occurs(table):
    return (table > 0).to_numpy()


strengths = np.arange(1, 101)
curves = np.array(
    [error_rates(NaiveBayes(beta=(a, a), priors="empirical"), occurs) for a in strengths]
)

# %%
# The band is one standard error of the test error, as it follows from the size of the test set.
# The model has two parameters per column, far fewer than there are e-mails, so the two errors are
# close, and the luck of the split decides which of them is lower.


def standard_error(percent):
    return np.sqrt(percent * (100 - percent) / len(X_test))


figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
test_curve = curves[:, 1]
band = standard_error(test_curve)
axes.fill_between(strengths, test_curve - band, test_curve + band, color="C1", alpha=0.2, lw=0)
axes.plot(strengths, curves[:, 0], color="C0", linestyle="--", label="training error")
axes.plot(strengths, test_curve, color="C1", label="test error ± 1 standard error")
axes.set(
    xscale="log",
    xlabel="a, strength of the Beta(a, a) prior",
    ylabel="wrong predictions (%)",
    title="Binarized features",
    xlim=(1, 100),
)
axes.set_xticks([1, 2, 5, 10, 20, 50, 100], labels=["1", "2", "5", "10", "20", "50", "100"])
axes.minorticks_off()
axes.grid(alpha=0.3)
axes.legend(loc="upper left")
plt.show()

# %%
# How often words occur
# ---------------------
# Frequencies are skewed, with many zeros and a few large values; their logarithms are less so.
# 0.1 is added to have a logarithm for 0. The variance is either that of each class or one for both.


def as_it_is(table):
    return table


def logarithm(table):
    return np.log(table + 0.1)


results = {f"Bernoulli, a = {a}": curves[a - 1] for a in (1, 2, 100)}
for numeric, variance in (("gaussian", "variance per class"), ("gaussian_shared", "one variance")):
    for transform, what in ((as_it_is, "x"), (logarithm, "log(x + 0.1)")):
        model = NaiveBayes(numeric=numeric, priors="empirical")
        results[f"Gaussian of {what}, {variance}"] = error_rates(model, transform)

print(f"{'wrong predictions (%)':44}{'training':>9}{'test':>7}{'s.e.':>6}")
for name, (training, test) in results.items():
    print(f"{name:44}{training:9.1f}{test:7.1f}{standard_error(test):6.1f}")

# %%
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
places = np.arange(len(results))
training, test = np.array(list(results.values())).T
axes.hlines(places, training, test, color="0.7", zorder=1)
axes.errorbar(
    test, places, xerr=standard_error(test), fmt="o", color="C1", label="test error ± 1 s.e."
)
axes.plot(training, places, "o", color="C0", mfc="white", label="training error")
axes.set_yticks(places, labels=list(results))
axes.invert_yaxis()
axes.set(xlabel="wrong predictions (%)", xlim=(0, None), title="Seven ways to describe an e-mail")
axes.grid(axis="x", alpha=0.3)
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# What is seen
# ------------
# In the words of this run:

gap = np.abs(curves[:, 1] - curves[:, 0]).max()
plain = results["Gaussian of x, variance per class"][1]
logged = results["Gaussian of log(x + 0.1), variance per class"][1]
best = min(results, key=lambda name: results[name][1])
print(
    f"Binarized features: the test error is {test_curve[0]:.1f} % at a = 1 and "
    f"{test_curve[-1]:.1f} % at a = 100;\nit is lowest at a = {strengths[test_curve.argmin()]}. "
    f"Training and test error differ by at most {gap:.1f} points.\n"
    f"Gaussian features with a variance per class: {plain:.1f} % wrong without and {logged:.1f} % "
    f"with the logarithm.\nThe lowest test error in the table is that of: {best}."
)
