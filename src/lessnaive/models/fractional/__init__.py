"""Fractional naive Bayes: weights between 0 and 1, of tables and of streams."""
