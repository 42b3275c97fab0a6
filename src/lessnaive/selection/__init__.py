"""Choosing among models: folds, scores on held-out rows, and rules of choice."""
