"""Rows held out: folds, metrics, and the choice of a model by them."""
