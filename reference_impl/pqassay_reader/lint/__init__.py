"""The linter: which rules an IDX1 index or a ``_pm`` breaks, found a second time and independently of the judge.

Contents: for each family that no engine reads, a module of its name, in the plainest code that can tell, for the
reference's answers to ``lint``.  It raises the first thing that is wrong.

Excluded: families that engines read, speed, reports, and anything of the judge.
"""
