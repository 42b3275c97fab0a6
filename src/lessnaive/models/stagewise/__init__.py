"""Stagewise naive Bayes: columns enter the model little by little."""
