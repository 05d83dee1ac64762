"""Pages: what a file says of each chunk and page, what a condition leaves over, and the decoding of chosen pages.

What lives here: the claims of one column chunk and when they count, the selection of rows by them, bytes of literals, small files
in memory around chosen pages, and the protocol's form of page indexes and bloom filters.  What never comes in: files as a
whole, requests, and the order in which things are read; that is `pqassay_reader.query`.
"""
