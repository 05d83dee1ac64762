"""Pages: their headers, the decoding of chosen ones, and the rows that they hold.

Contents: bytes of literals, small files in memory around chosen pages, and the protocol's form of page indexes and bloom
filters.  Excluded: conditions, and code for whole files.
"""
