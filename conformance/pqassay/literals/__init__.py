"""Literals: rows and predicates as golden files and the protocol write them in JSON, and whether a row satisfies one.

Contents: plain Python over parsed JSON.  Excluded: libraries, and code about files.
"""
