"""Conditions: their meaning, defined in one place.

Contents: parsing of text (`text`), the values of types and the places of constants among them (`kinds`), sets
of such values (`values`), the normal form of a condition (`normal`), and its evaluation with Arrow (`rows`).

Excluded: files and their metadata.

How it works: a condition compares a column with constants as mathematical values. A constant of any type has
a place among the values of the column's type: it is one of them, or between two, or beyond all. Each
comparison is therefore true of a set of values of that type: of intervals, optionally with NaN and null. NOT is pushed
down to the comparisons, where three-valued logic is resolved. The result is sets joined by AND and OR, and a
row is kept if it is in them. Tests of the same column become one set.  Pruning uses these sets: bounds are compared with the
ends of their intervals, bloom filters are probed with their points, lists of values are tested for membership.
"""
