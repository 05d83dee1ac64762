"""The linter: which rules an IDX1 index or a ``_pm`` breaks, found a second time and independently of the judge.

Contents: a module for each family that no engine reads, in the simplest possible code, for the reference's
answers to ``lint``.  It raises the first thing that is wrong.

Excluded: families that engines read, speed, reports, and code of the judge.
"""
