"""Searches for weights between 0 and 1 whose criterion may not be convex."""
