"""Proofs: what a finding costs, shown by queries that engines answer wrongly.

What lives here: queries that a finding puts in doubt (`candidates`, `queries`), the true answers, taken from the pages
(`true_values`), the engines and the processes in which they run (`engines`, `worker`), and the comparison (`trial`).

What never comes in: verdicts.  A proof is added to a finding and changes nothing about it.  An engine runs in a process of its own,
with limits, since a damaged file may crash it; one that is wrong on a healthy copy of the file as well proves nothing.
"""
