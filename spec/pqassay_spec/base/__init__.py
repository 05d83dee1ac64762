"""The lowest layer: errors, sources of bytes, strict JSON, and text that is safe on a terminal.

Contents: code that every other package needs and that does not depend on a format.  It imports only the
standard library, and `construct` for its errors.
"""
