"""The row contents that an index directory describes: distinct values, counts, sums, and inputs of sketches.

Contents: the blobs of entries (`blob`), the audit that collects row contents part by part (`audit`), and a
module for each type of index.  The rules that compare the two are in `pqassay.checks.directory`.

Excluded: checks of entries without values; `pqassay.under_test.index_directory` has them.
"""
