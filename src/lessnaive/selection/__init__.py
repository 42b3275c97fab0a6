"""Choosing columns: greedy searches, and correlation-based selection."""
