"""Models for the tests of likelihoods that are curves."""

from __future__ import annotations

from lessnaive import (
    AttributeWeightedNB,
    AveragedNB,
    BaristaNB,
    BaristaNBCV,
    FractionalNB,
    GroupLassoNB,
    HybridLRNB,
    NaiveBayes,
    RelevanceWeightedNB,
    SelectiveNB,
    StagewiseNB,
)

#: Models that take any likelihood of numeric columns.
MODELS = [
    NaiveBayes(),
    SelectiveNB(),
    SelectiveNB(criterion="cv_error"),
    RelevanceWeightedNB(),
    AveragedNB(),
    AttributeWeightedNB(),
    BaristaNB(leave_one_out=True),
    BaristaNBCV(n_l1=3, cv=3),
    FractionalNB(),
    HybridLRNB(assignment=[1]),
]

#: Models that need parameters to shrink.
REFUSING = [GroupLassoNB(), StagewiseNB()]
