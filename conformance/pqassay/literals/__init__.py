"""Literals: rows and predicates in the JSON form of golden files and the protocol, and the truth of predicates on rows.

Contents: plain Python over parsed JSON.  Excluded: libraries, and code about files.
"""
