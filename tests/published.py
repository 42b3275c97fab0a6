"""Models with the settings they were published with, which plain formulas are held against.

Normal distributions have the variances of maximum likelihood, searches look at the error rate, and
nothing is penalized, and relevance is not divided by anything. The defaults of the package are
others, see test_defaults.
"""

from __future__ import annotations

from functools import partial

import lessnaive

NORMAL = {"numeric": "gaussian", "variance_prior": 0.0}

AttributeWeightedNB = partial(lessnaive.AttributeWeightedNB, bounds=None)
GroupLassoNB = partial(lessnaive.GroupLassoNB, smoothing=0.0, priors="empirical", **NORMAL)
HybridLRNB = partial(lessnaive.HybridLRNB, lam=0.0, **NORMAL)
NaiveBayes = partial(lessnaive.NaiveBayes, **NORMAL)
RelevanceWeightedNB = partial(lessnaive.RelevanceWeightedNB, relevance="distance", **NORMAL)
SelectiveNB = partial(lessnaive.SelectiveNB, criterion="error", **NORMAL)
StagewiseNB = partial(lessnaive.StagewiseNB, criterion="error", **NORMAL)
