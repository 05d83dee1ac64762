"""Checks on executors: `pqassay check` of a lake, with the same report, and a table of findings that remembers verdicts.

Contents: listing, packing and judging of targets on executors, and the findings table; samples and estimates
are those of `pqassay_lake`.  Excluded:
verdicts; `pqassay.judge` judges each file, as on one machine.
"""
