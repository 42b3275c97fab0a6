"""The command ``stream``: tables without an end, learned from in one pass."""
