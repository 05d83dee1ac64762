"""Encodings of values and levels, and of the content of some values."""
