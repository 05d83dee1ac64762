"""The linter: which rules a file breaks, found a second time and independently of the judge.

What lives here: for each family a module of its name, in the plainest code that can tell, for the reference's answers to ``lint``.
The first thing that is wrong is raised.  What never comes in: speed, reports, and anything of the judge.
"""
