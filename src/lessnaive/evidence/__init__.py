"""From a table to naive Bayes: what is counted, and what it says about each row."""
