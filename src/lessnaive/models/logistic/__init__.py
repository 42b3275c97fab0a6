"""Linear models: logistic regression shrunk toward naive Bayes, and hybrids of the two."""
