"""Literals: rows and predicates as golden files and the protocol write them in JSON, and whether a row satisfies one.

What lives here: plain Python over parsed JSON.  What never comes in: any library, and anything about files.
"""
