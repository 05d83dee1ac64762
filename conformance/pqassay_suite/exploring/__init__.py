"""Exploring: random files and queries that test a driver; a wrong answer is reduced to a small example.

Contents: random files and queries (`kinds`, `drawing`), writing and changing a file (`drawn_file`,
`changes`), asking the driver (`asking`), the causes of a wrong answer (`ingredients`), the search itself
(`search`), and the output of a finding (`recipe`).

Excluded: bytes of golden files, and a separate writer. pyarrow writes the files; mutations of the
specification make the forms that it cannot write.  Only `drawing` and `search` import hypothesis, which is an
extra.

How a finding is made: hypothesis draws a file and some queries. The truth is the rows that were handed to the
writer, and the predicate's own three-valued logic.  The driver is asked with skipping and, if the answer is
wrong, without it.  The first wrong answer that no earlier finding explains is the round's target; hypothesis
shrinks the example while the answer stays wrong in the same way.  Then each ingredient is left out by itself:
if the answer is right without it, the finding needs it.  A later wrong answer that has all of them is
explained by it, and the next round looks for another.
"""
