"""Additive curves and tables of pairs: LessNaiveClassifier and its parts."""
