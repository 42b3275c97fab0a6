"""
The pictures people want
========================

What does a column do? Why is this row predicted as it is? Which columns matter, and do the
probabilities mean what they say? Each question has a display, and all are made alike, with
``from_estimator``.
"""

# %%
# A model, learned from half of the penguins
# ------------------------------------------
from lessnaive import LessNaiveClassifier, NaiveBayes
from lessnaive.datasets import load_penguins
from lessnaive.plot import (
    CalibrationDisplay,
    ExplanationDisplay,
    ImportanceDisplay,
    NomogramDisplay,
    TermDisplay,
)

X, y = load_penguins("pandas")
X, y = X.sample(frac=1, random_state=0), y.sample(frac=1, random_state=0)
model = LessNaiveClassifier().fit(X[:172], y[:172])

# %%
# What a column does
# ------------------
# Above 0 the value speaks for a class, below 0 against it. The band shows how sure the counts are,
# the grey bars where the rows are.
display = TermDisplay.from_estimator(model, "bill_length_mm")

# %%
# Names have a bar each, with the number of rows:
display = TermDisplay.from_estimator(model, "island")

# %%
# Why this row
# ------------
# From the average bird to this one, the largest steps first, with the probability along the way.
display = ExplanationDisplay.from_estimator(model, X[172:], row=0)

# %%
# Which columns matter
# --------------------
display = ImportanceDisplay.from_estimator(model)

# %%
# Do the probabilities mean what they say?
# ----------------------------------------
# On rows that the model has not seen; on the diagonal they do.
display = CalibrationDisplay.from_estimator(model, X[172:], y[172:], n_bins=5)

# %%
# With ruler and pencil
# ---------------------
# The nomogram of naive Bayes: add up the points of all columns, and read off the probability.
display = NomogramDisplay.from_estimator(NaiveBayes().fit(X, y), class_="Gentoo", against="Adelie")
