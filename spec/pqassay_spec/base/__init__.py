"""The ground floor: errors, sources of bytes, strict JSON, and text that is safe on a terminal.

Contents: what every other room needs and what knows no format.  It imports the standard library, and `construct` for
its errors alone.
"""
