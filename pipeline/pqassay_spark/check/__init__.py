"""Checks on executors: `pqassay check` of a lake, with the same report, and a table of findings that remembers verdicts.

Contents: how targets are listed, packed and judged on executors, and the table of findings; samples and estimates are those of `pqassay_lake`.  What
never comes in: a verdict; each file is judged by `pqassay.judge`, as on one machine.
"""
