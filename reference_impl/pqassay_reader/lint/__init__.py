"""The linter: finds the rules that an IDX1 index or a ``_pm`` breaks, independently of the judge.

Contents: a module for each family that no engine reads, in the simplest possible code, for the reference's
answers to ``lint``.  It raises the first error.

Excluded: families that engines read, speed, reports, and code of the judge.
"""
