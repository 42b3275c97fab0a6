"""Results of the papers behind the models, run again: one module per paper."""
