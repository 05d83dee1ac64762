"""The blobs of an index directory as arrays, for many files at once; conditions and answers use them.

Excluded: conditions, and the entries of a file (see `pqassay_reference.directory.reading`).
"""
