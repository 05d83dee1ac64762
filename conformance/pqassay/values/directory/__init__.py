"""What the rows hold that an index directory describes: distinct values, counts and sums, and what sketches are given.

What lives here: the blobs of entries (`blob`), the audit that puts together what rows hold, part by part (`audit`), and what it takes for each
type of index.  The rules that compare the two are in `pqassay.checks.directory`.

What never comes in: entries by themselves, without values; `pqassay.under_test.index_directory` has them.
"""
