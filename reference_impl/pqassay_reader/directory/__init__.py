"""The blobs of an index directory as arrays, of many files at once: what conditions and answers look into.

Excluded: conditions, and the entries of a file (see `pqassay_reference.directory.reading`).
"""
