"""Finished files changed in place: an index embedded, read back, or removed, while the rows stay as they are.

Contents: embedding, extracting, stripping, and the splice of a footer that copies every byte it does not change.  Files are
replaced atomically.
"""
