"""The pages and row groups that must be read for a condition, according to claims about each chunk and page.

Contents: the claims of one column chunk and when they count, and the selection of rows by these claims and by distinct sets.
Excluded: files as a whole, requests, and the order of reading; see `pqassay_reader.query`.
"""
