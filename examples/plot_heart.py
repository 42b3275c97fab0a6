"""
Heart disease: weights that can be read
=======================================

Naive Bayes takes every column at its word. In a table of patients, where columns tell of the same
illness, that is too much: the same evidence is counted again and again. This example learns a
weight for each class and column (BARISTA), and looks at what the weights say, at how they depend on
the penalties, and at what is gained.
"""

# %%
# The table
# ---------
# 270 patients, with and without a heart disease. It comes from OpenML, or from the folder that the
# environment variable ``LESSNAIVE_DATA_HOME`` names.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from lessnaive import BaristaNB, BaristaNBCV, NaiveBayes, datasets
from lessnaive.plot import CVSurfaceDisplay, PathDisplay, WeightsDisplay

try:
    patients, disease = datasets.load("heart-statlog", backend="pandas")
except FileNotFoundError as error:
    print(f"This example is skipped. {error}")
    raise SystemExit(0) from None

codes = ["sex", "chest", "fasting_blood_sugar", "resting_electrocardiographic_results"]
codes += ["exercise_induced_angina", "slope", "thal"]
patients[codes] = patients[codes].astype(float).astype(int).astype(str)  # names, not quantities
disease = np.asarray(disease)
print(disease.shape[0], "patients,", (disease == "present").sum(), "with the disease")

# %%
# A few columns are enough
# ------------------------
# The l1 penalty sets weights to 0 exactly. A weight of 0 leaves the column out of the score of this
# class, 1 is the weight of naive Bayes.

model = BaristaNB(l1=2.0, l2=0.1).fit(patients, disease)
WeightsDisplay.from_estimator(model)
plt.show()

# %%
# How good is this minimum? The model knows: the objective is at most so much above the smallest
# that any weights can reach.

print(f"objective {model.objective_:.6f}, above the minimum by at most", end=" ")
print(f"{model.suboptimality_bound_:.1e} (by {model.suboptimality_rule_})")

# %%
# The weights are multiplied into the scorecard, which is read as ever. What does each kind of chest
# pain add to the log-odds of the disease, compared with the first?

scores = model.scorecard_.tables("pandas").pivot(
    index=["column", "value"], columns="class", values="score"
)
odds = (scores["present"] - scores["absent"]).loc["chest"]
for kind, added in (odds - odds["1"]).items():
    print(f"chest pain of type {kind}: {added:+.2f}")

# %%
# Which penalties?
# ----------------
# Cross-validation chooses them. :class:`~lessnaive.BaristaNBCV` pulls the weights towards 1, so
# that the strongest penalty is naive Bayes itself (on the left), and scores each row by what the
# other rows say.

chosen = BaristaNBCV(n_l1=10).fit(patients, disease)
CVSurfaceDisplay.from_estimator(chosen)
plt.show()

# %%
# Along the row of the chosen l2, weights leave 1 one after the other as l1 gets smaller.

PathDisplay.from_estimator(chosen, class_="present")
plt.show()

# %%
# What is gained
# --------------
# Predictions of rows that the model has not seen, in ten folds; the penalties are chosen anew
# inside of each.

folds = StratifiedKFold(10, shuffle=True, random_state=0)
models = {
    "naive Bayes": NaiveBayes(numeric="mdlp"),
    "BARISTA, l1=2, l2=0.1": BaristaNB(l1=2.0, l2=0.1),
    "BARISTA, chosen penalties": BaristaNBCV(n_l1=10),
}
for name, candidate in models.items():
    probability = cross_val_predict(candidate, patients, disease, cv=folds, method="predict_proba")
    right = candidate.fit(patients, disease).classes_[probability.argmax(axis=1)] == disease
    print(f"{name:27} accuracy {right.mean():.3f}   log-loss {log_loss(disease, probability):.3f}")
