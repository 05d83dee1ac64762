"""Conditions: what they mean, stated once.

Contents: parsing of text (`text`), the values of types and the places of constants among them (`kinds`), sets
of such values (`values`), the normal form of a condition (`normal`), and its evaluation with Arrow (`rows`).

Excluded: files and their metadata.

How it works: a condition compares a column with constants as mathematical values. A constant of any type has
a place among the values of the column's type: it is one of them, or lies between two, or beyond all. So each
comparison is true of a set of values of that type: of intervals, and of NaN and null or not. NOT is pushed
down to the comparisons, where three-valued logic is resolved. The result is sets joined by AND and OR, and a
row is kept if it is in them. Tests of the same column become one set.  Pruning asks these sets: bounds by the
ends of their intervals, bloom filters by their points, lists of values by membership.
"""
