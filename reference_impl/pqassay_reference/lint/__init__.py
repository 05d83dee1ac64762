"""The linter: which rules a file breaks, found a second time and independently of the judge.

What lives here: the plainest code that can tell, for the reference's answers to ``lint``.  What never comes in: speed, and
anything of the judge.
"""
