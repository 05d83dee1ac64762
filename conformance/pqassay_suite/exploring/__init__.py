"""Exploring: files and queries drawn at random, put to a driver until one is answered wrongly, and then made small.

Contents: which files and queries are drawn (`kinds`, `drawing`), how a file is written and changed (`drawn_file`, `changes`), how the
driver is asked (`asking`), what of a wrong answer matters (`ingredients`), the search itself (`search`), and how a finding is shown (`recipe`).

Excluded: a golden file's bytes, and a writer of our own.  pyarrow writes the files; what it cannot write, a mutation of the
specification makes of them.  Only `drawing` and `search` import hypothesis, which is an extra.

How a finding is made: hypothesis draws a file and some queries. The truth is the rows that were handed to the writer, and the predicate's
own three values of truth.  The driver is asked with skipping and, where it is wrong, without.  The first wrong answer that no earlier
finding explains is the round's target; hypothesis shrinks the example while the answer stays wrong in the same way.  Then each
ingredient is left out by itself: those without which the answer is right are what the finding takes.  A later wrong answer that has all of
them is explained by it, and the next round looks for another.
"""
