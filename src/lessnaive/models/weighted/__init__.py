"""Naive Bayes with learned weights: WANBIA, CAWNB, RNB and BARISTA."""
