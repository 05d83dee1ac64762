"""Pages: their headers, the decoding of chosen pages, and their rows.

Contents: bytes of literals, small files in memory around chosen pages, and the protocol's form of page indexes and bloom
filters.  Excluded: conditions, and code for whole files.
"""
