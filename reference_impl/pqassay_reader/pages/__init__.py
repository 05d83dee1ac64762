"""Pages and row groups that a condition leaves to be read, by what a file says about each chunk and page.

Contents: the claims of one column chunk and when they count, the selection of rows by them, and by distinct sets.  What never
comes in: files as a whole, requests, and the order in which things are read; that is `pqassay_reader.query`.
"""
