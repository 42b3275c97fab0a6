"""
Three roads to the same minimum
===============================

Cutrona and Guillot show in figure 1 of the BARISTA paper how ISTA and FISTA come near the weights
that minimize their objective. This example draws the same picture, and adds the second-order solver
that the paper leaves to future work.

One thing is different. The paper measures the distance of each iterate to the *last* iterate of the
same run, which must fall to zero at the end of any run, even of one that got stuck. Here it is the
distance to the true minimum, as certified by another run.
"""

# %%
# A problem whose minimum is known
# --------------------------------
# Wine: 178 samples, 13 measurements, 3 cultivars. ``tol=1e-12`` asks for weights without any slope
# but that of rounding, and the fitted model bounds what is left.

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from lessnaive import BaristaNB
from lessnaive.plot import ConvergenceDisplay
from lessnaive.solver import FISTA, ISTA, ProxNewton

wine, cultivar = load_wine(as_frame=True, return_X_y=True)
penalties = {"l1": 0.1, "l2": 0.05}
optimum = BaristaNB(**penalties, tol=1e-12).fit(wine, cultivar)
print(f"minimum {optimum.objective_:.12f}, exact to {optimum.suboptimality_bound_:.0e}", end=" ")
print(f"(by {optimum.suboptimality_rule_}) and to rounding")

# %%
# Three solvers
# -------------
# All of them start at naive Bayes, where all weights are 1. Solvers are objects; those that are
# made with ``keep_weights=True`` keep their iterates for the picture.

solvers = {
    "ISTA": ISTA(keep_weights=True),
    "FISTA": FISTA(keep_weights=True, adaptive_restart=False),
    "FISTA with restarts": FISTA(keep_weights=True),
    "proximal Newton": ProxNewton(keep_weights=True),
}
histories = {}
for name, solver in solvers.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ISTA may not get there in time
        model = BaristaNB(**penalties, solver=solver, tol=1e-10, max_iter=5000)
        model.fit(wine, cultivar)
    histories[name] = model.history_
    print(f"{name:20} {model.n_iter_:5} iterations, KKT residual {model.kkt_residual_:.1e}")

# %%
# As in the paper: straight lines
# -------------------------------
# On a logarithmic scale a linear rate is a straight line. ISTA has one, as theorem 2
# says for l2 > 0. Plain FISTA is faster and goes in waves, since its momentum overshoots.
# Restarts forget the momentum when it points uphill, and take the waves out.

ConvergenceDisplay.from_histories(histories, optimum)
plt.show()

# %%
# Where is proximal Newton? In the first few iterations, which a logarithmic axis shows. It bends
# down: once it is near, the number of correct digits about doubles with each iteration. That is
# what is called superlinear convergence; the straight lines of the others are not.

ConvergenceDisplay.from_histories(histories, optimum, log_x=True)
plt.show()

# %%
# An iteration of proximal Newton does more, so the clock has to decide.

ConvergenceDisplay.from_histories(histories, optimum, x="seconds", log_x=True)
plt.show()
