"""Tables in parts: bigger than memory, or on many machines."""
