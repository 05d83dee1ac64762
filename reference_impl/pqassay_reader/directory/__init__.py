"""The blobs of an index directory as arrays, of many files at once: what conditions and answers look into.

Excluded: conditions, and which entry a file has, which `pqassay_reference.directory.reading` says.
"""
