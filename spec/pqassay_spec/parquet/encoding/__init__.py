"""Encodings of values and levels, and of what is inside some values."""
