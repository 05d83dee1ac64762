"""Changes to finished files without changes to rows: embed, read or remove an index.

Contents: embedding, extracting, stripping, and the splice of a footer that copies every unchanged byte.  Files are
replaced atomically.
"""
