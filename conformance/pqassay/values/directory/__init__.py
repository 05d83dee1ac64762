"""Entries of the index directory, put to the values: distinct sets, zone sums, sketches.

What lives here: the blobs of entries as arrays (`blob`), and a comparison for each type of index.

What never comes in: entries by themselves, without values; `pqassay.under_test.index_directory` has them.
"""
