"""
Reading a scorecard
===================

A fitted model is a sum: each column adds something to the score of each class. This example fits
the Palmer penguins (three species, measurements, two text columns, gaps) and looks at that sum from
both sides: what one bird's values say, and what a column says in general.
"""

# %%
# A model of the table as it is
# -----------------------------

import matplotlib.pyplot as plt
import numpy as np

from lessnaive import NaiveBayes
from lessnaive.datasets import load_penguins

penguins, species = load_penguins(backend="pandas")
print(penguins.isna().sum().to_string())
model = NaiveBayes(numeric="gaussian").fit(penguins, species)
card = model.scorecard_

# %%
# Why this bird?
# --------------
# :meth:`~lessnaive.Scorecard.explain` gives the summands of each row, relative to the average bird,
# whose own scores are "(base)". Take the bird that the model is least sure of among those that it
# gets right.

probabilities = model.predict_proba(penguins)
right = model.predict(penguins) == species
bird = int(np.where(right, probabilities.max(axis=1), np.inf).argmin())
print(penguins.iloc[bird].to_string())
for name, probability in zip(model.classes_, probabilities[bird], strict=True):
    print(f"p({name}) = {probability:.3f}")

# %%
# Only differences between classes matter, so the scores are shown relative to the strongest rival:
# a bar to the right speaks for the species that was predicted, a bar to the left for the rival. The
# bars add up to the log-odds of the two.

order = probabilities[bird].argsort()
winner, rival = order[-1], order[-2]
this, other = model.classes_[winner], model.classes_[rival]
contributions = card.explain(penguins.iloc[[bird]])
evidence = np.asarray(contributions[0, :, winner] - contributions[0, :, rival])
values = ["", *(f" = {value}" for value in penguins.iloc[bird])]
labels = [name + value for name, value in zip(contributions.names, values, strict=True)]

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
places = np.arange(len(labels))
bars = axes.barh(places, evidence, color=np.where(evidence > 0, "C0", "C1"))
axes.bar_label(bars, fmt="%+.2f", padding=4)
axes.set_yticks(places, labels=labels)
axes.invert_yaxis()
axes.axvline(0, color="0.3", lw=0.8)
axes.margins(x=0.15)
axes.set(
    xlabel=f"← for {other}      evidence (nats)      for {this} →",
    title=f"{this} rather than {other}: the bars add up to {evidence.sum():+.2f}",
)
axes.set_axisbelow(True)
axes.grid(axis="x", alpha=0.3)
plt.show()

# %%
# The bars are the whole prediction:

log_odds = np.log(probabilities[bird, winner] / probabilities[bird, rival])
print(f"sum of the bars {evidence.sum():.6f}, log-odds {log_odds:.6f}")

# %%
# What does a column say?
# -----------------------
# A text column is a table of scores, a numeric column with normal distributions a parabola for each
# class.

columns = card.tables("pandas")
islands = columns[columns["column"] == "island"].pivot(
    index="value", columns="class", values="score"
)
print(islands.round(2).to_string())

# %%
# As before, what counts is how the classes compare. Below is the evidence of two columns: the score
# of each class minus the mean over the classes at the same value.

flipper = card.terms[card.schema.names.index("flipper_length_mm")]
offset, center, scale, _, weight = flipper.parameters
lengths = np.linspace(170, 235, 300)[:, None]
scores = offset - weight * ((lengths - center) / scale) ** 2 / 2

figure, (left, right_axes) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=(3, 2)
)
left.plot(lengths, scores - scores.mean(axis=1, keepdims=True), label=model.classes_)
left.set(xlabel="flipper length (mm)", ylabel="evidence (nats)", title="A quantity: parabolas")

relative = islands.sub(islands.mean(axis=1), axis=0)
positions = np.arange(len(relative))
for place, name in enumerate(relative.columns):
    right_axes.bar(positions + 0.27 * (place - 1), relative[name], width=0.25)
right_axes.set_xticks(positions, labels=relative.index)
right_axes.set(xlabel="island", title="Names: a table")

for axes in (left, right_axes):
    axes.axhline(0, color="0.3", lw=0.8)
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)
figure.legend(loc="outside lower center", ncols=3)
plt.show()

# %%
# A gap or a new value adds nothing
# ---------------------------------
# Without its flipper length, and from an island that the model has never heard of, the same bird is
# scored by the columns that are left. The terms as they are in the model, not relative to the
# average bird, say so.

changed = penguins.iloc[[bird]].assign(flipper_length_mm=np.nan, island="Anvers")
summands = card.explain(changed, centred=False).to_frame("pandas")
print(summands.pivot(index="column", columns="class", values="contribution").round(2).to_string())
